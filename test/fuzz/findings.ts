import type { Face } from './fuzz-request.ts'
import { FACES } from './fuzz-request.ts'
import { type FindingKind, KINDS, type Verdict } from './judge.ts'

/** One thing that is wrong, however often it was seen. */
interface Finding extends Verdict {
  face: Face | 'all'
  what: string
  count: number
  /** The shortest request that showed it. */
  example: { index: number; bytes: Buffer }
}

/** What was found, and what was sent. */
export class Findings {
  readonly #found = new Map<string, Finding>()
  readonly #sent = new Map<Face, { requests: number; excused: number }>(
    FACES.map((face) => [face, { requests: 0, excused: 0 }]),
  )

  #told = 0

  sent(face: Face): void {
    const count = this.#sent.get(face)
    if (count) count.requests++
  }

  /** A 503 that the harness brought about itself. */
  excuse(face: Face): void {
    const count = this.#sent.get(face)
    if (count) count.excused++
  }

  add(face: Face | 'all', what: string, { kind, reason }: Verdict, example: Finding['example']): void {
    const key = `${kind} ${face} ${what} ${reason}`
    const known = this.#found.get(key)
    if (!known) this.#found.set(key, { kind, reason, face, what, count: 1, example })
    else {
      known.count++
      if (example.bytes.length < known.example.bytes.length) known.example = example
    }
  }

  get count(): number {
    return this.#found.size
  }

  /** What was found for the first time since this was asked last, in a line each. */
  news(): string[] {
    const fresh = [...this.#found.values()].slice(this.#told)
    this.#told = this.#found.size
    return fresh.map(({ kind, face, what, reason }) => `${kind}: ${face} ${what}: ${reason}`)
  }

  /** Requests by face; findings by kind, each with its smallest example and how to see it again. */
  report(again: (index: number) => string): string {
    const rows = [...this.#sent].map(([face, { requests, excused }]) => {
      const mine = [...this.#found.values()].filter((finding) => finding.face === face)
      const counts = KINDS.map((kind) => String(total(mine.filter((finding) => finding.kind === kind))))
      return [face, String(requests), String(excused), ...counts]
    })
    const all = [...this.#found.values()].sort((a, b) => b.count - a.count)
    return [
      table([['face', 'requests', '503 brought about', ...KINDS], ...rows]),
      ...all.map((finding) => inWords(finding, again)),
      all.length === 0 ? 'nothing was found' : `${all.length} findings`,
    ].join('\n')
  }

  /** Kinds of what was found. */
  kinds(): FindingKind[] {
    return [...new Set([...this.#found.values()].map(({ kind }) => kind))]
  }
}

const total = (findings: readonly Finding[]) => findings.reduce((sum, { count }) => sum + count, 0)

function inWords({ kind, face, what, reason, count, example }: Finding, again: (index: number) => string): string {
  const bytes = JSON.stringify(shortened(example.bytes.toString('latin1'))).slice(0, 700)
  const shown = example.bytes.length > 0 ? `\n    ${bytes}` : ''
  const command = example.index < 0 ? '' : `\n    again: ${again(example.index)}`
  return `\n${kind}, ${count} times: ${face} ${what}: ${reason}${shown}${command}`
}

/** Without tokens, and without what only repeats itself. */
function shortened(text: string): string {
  const repeated = /(.{1,6}?)\1{19,}/gs
  return text
    .replace(/eyJ[\w-]+\.[\w-]+\.[\w-]*/g, '<token>')
    .replace(repeated, (all, part: string) => `${part}<${all.length / part.length} times>`)
}

function table(rows: readonly string[][]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows.map((row) => row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  ')).join('\n')
}
