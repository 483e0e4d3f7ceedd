/** The candidate a misspelt word most likely meant, or undefined when none is close. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    .map((candidate) => ({
      candidate,
      distance: editDistance(word.toLowerCase().slice(0, 64), candidate.toLowerCase()),
    }))
    .sort((a, b) => a.distance - b.distance)[0]
  return ranked && ranked.distance <= Math.max(2, Math.floor(ranked.candidate.length / 3))
    ? ranked.candidate
    : undefined
}

/** Levenshtein distance: insertions, deletions and substitutions that turn one word into the other. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
