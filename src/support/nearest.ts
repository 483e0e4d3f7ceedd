/**
 * The candidate that a misspelt word most likely means, or undefined when none is close. A candidate that the word begins with, and that
 * is more than half of it, is close. Case does not count.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best ?? [...candidates].find((candidate) => word.startsWith(candidate) && candidate.length * 2 > word.length)
}

/** Advice for a word that is not one of the candidates: the near miss, else all candidates. */
export function suggest(word: string, candidates: readonly string[]): string {
  const near = nearest(word, candidates)
  if (near !== undefined) return `did you mean "${near}"?`
  if (candidates.length === 0) return 'there is none to choose from; leave it out'
  return candidates.length === 1 ? `use ${candidates[0]}` : `use one of ${list(candidates)}`
}

function list(words: readonly string[]): string {
  const shown = words.slice(0, 20).join(', ')
  return words.length > 20 ? `${shown}, …` : shown
}

/** Number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced, swapped ? at(beforeLast, j - 2) + 1 : replaced))
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
