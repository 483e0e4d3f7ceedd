import type { Row } from './matrix.ts'
import type { Outcome } from './stage.ts'

/** What came of the matrix, added up. */
export interface MatrixTable {
  add(row: Row, outcome: Outcome, complaints: readonly string[]): void
  /** `120 runs, 0 false alarms, 0 missed` */
  summary(): string
  /** Markdown: a line for each wrong client, and for each way a correct one was run. */
  render(): string
}

interface Line {
  finding: string | undefined
  runs: number
  /** How often each finding failed. */
  failed: Map<string, number>
  /** How often all was as it must be. */
  right: number
}

/** An empty table. */
export function matrixTable(): MatrixTable {
  const lines = new Map<string, Line>()
  const sum = (count: (line: Line) => number) => [...lines.values()].reduce((total, line) => total + count(line), 0)
  return {
    add({ name, finding }, { failed }, complaints) {
      const line = lines.get(name) ?? { finding, runs: 0, failed: new Map(), right: 0 }
      lines.set(name, line)
      line.runs++
      if (complaints.length === 0) line.right++
      for (const id of failed) line.failed.set(id, (line.failed.get(id) ?? 0) + 1)
    },
    summary() {
      const alarms = sum((line) =>
        [...line.failed].reduce((n, [id, times]) => n + (id === line.finding ? 0 : times), 0),
      )
      const missed = sum(({ finding, failed, runs }) => (finding ? runs - (failed.get(finding) ?? 0) : 0))
      const wrong = sum(({ runs, right }) => runs - right)
      return `${sum(({ runs }) => runs)} runs, ${alarms} false alarms, ${missed} missed, ${wrong} not as they must be`
    },
    render() {
      const rows = [...lines].map(([name, { finding, runs, failed }]) => {
        const others = [...failed].filter(([id]) => id !== finding).map(([id, times]) => `${id} ${times}`)
        const own = finding ? `${finding} ${failed.get(finding) ?? 0} of ${runs}` : `${runs} runs`
        return `| ${name} | ${own} | ${others.join(', ') || 'none'} |`
      })
      return ['| client | its own finding failed | others failed |', '|---|---|---|', ...rows].join('\n')
    },
  }
}
