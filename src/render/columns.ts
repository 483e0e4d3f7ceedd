import { wrapped } from './typesetter.ts'

/** Spaces between two columns. */
const GAP = 2
/** Least width of a last column that is wrapped: a narrower one is easier to read as one long line. */
const LEAST = 24

/** How columns are shown. */
export interface ColumnTerms {
  /** Columns of the screen; a longer last column is wrapped. Undefined: lines may have any length. */
  width?: number
  /** Paints the headings; default: as they are. */
  heading?(line: string): string
  /** Numbers of the columns that are aligned to the right. */
  right?: readonly number[]
}

/** Rows below their headings, one column under the other. Without headings only the columns are aligned. */
export function columnLines(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { width, heading = (line) => line, right = [] }: ColumnTerms = {},
): string[] {
  const all = headings.length > 0 ? [headings, ...rows] : rows
  const count = Math.max(0, ...all.map(({ length }) => length))
  const widths = Array.from({ length: count }, (_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0)))
  const lines = all.map((row) => lineOf(row, { widths, right, width }))
  return headings.length > 0 ? [...(lines[0] ?? []).map(heading), ...lines.slice(1).flat()] : lines.flat()
}

interface Widths {
  widths: readonly number[]
  right: readonly number[]
  width: number | undefined
}

function lineOf(row: readonly string[], { widths, right, width }: Widths): string[] {
  const cells = row.map((text, i) => (right.includes(i) ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0)))
  const last = row.length - 1
  const before = cells.slice(0, last).map((cell) => cell + ' '.repeat(GAP))
  const first = before.join('')
  const isWide = width !== undefined && first.length + (row[last]?.length ?? 0) > width
  if (!isWide || width - first.length < LEAST) return [(first + (cells[last] ?? '')).trimEnd()]
  return wrapped(first, row[last] ?? '', { width })
}
