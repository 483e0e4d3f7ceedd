import { endInAWord } from './command-end.ts'
import type { Run } from './sandbox-run.ts'

const HEADER = ['scenario', 'verdict', 'kept', 'broken', 'not tested', 'seconds', "command's code"]
/** Columns of numbers. */
const FROM_THE_RIGHT = 2

/** Several runs, a line each. */
export function summaryTable(runs: readonly Run[]): string {
  const rows = [HEADER, ...runs.map(rowOf)]
  const widths = HEADER.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const cell = (text: string, column: number) => {
    const width = widths[column] ?? 0
    return column < FROM_THE_RIGHT ? text.padEnd(width) : text.padStart(width)
  }
  return rows.map((row) => row.map(cell).join('  ').trimEnd()).join('\n')
}

function rowOf({ scenario, end, took, report }: Run): string[] {
  const { verdict, proved, contradicted, unproved } = report
  const numbers = [proved, contradicted, unproved].map(String)
  return [scenario?.name ?? '-', verdict, ...numbers, (took / 1000).toFixed(1), endInAWord(end)]
}
