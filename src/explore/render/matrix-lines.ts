import type { Operation } from '../../domain/operations.ts'
import { type Level, OUTCOMES as OF_OPERATIONS, type OutcomeId } from '../../oracle/outcome.ts'
import { type Cell, countIn, type Matrix, type MatrixRow } from '../matrix.ts'
import { type CellOutcome, legendOf, signOf } from './outcomes.ts'

/** Emphasises text by a Select Graphic Rendition of ECMA-48; without colours, returns it unchanged. */
export type Paint = (sgr: string, text: string) => string

/** Colour of a severity. */
export const LEVEL_COLOURS: Record<Level, string> = {
  critical: '1;31',
  serious: '31',
  inconclusive: '35',
  review: '33',
  warning: '33',
  note: '36',
  none: '2',
  ok: '32',
}

/** Colour of an outcome, by its severity. */
export const COLOURS: Record<CellOutcome, string> = {
  ...(Object.fromEntries(Object.entries(OF_OPERATIONS).map(([id, { level }]) => [id, LEVEL_COLOURS[level]])) as Record<
    Extract<CellOutcome, OutcomeId>,
    string
  >),
  left_undone: LEVEL_COLOURS.critical,
  gave_up_safely: LEVEL_COLOURS.warning,
  errored: '35',
  not_exercised: '2',
  survived: '32',
  untried: '2',
}

/** Column heads, short enough for eight columns on a terminal. */
const HEADS: Record<Operation, string> = {
  list_pools: 'pools',
  create_end_user: 'user',
  create_portfolio: 'portf.',
  list_portfolios: 'list',
  deposit: 'deposit',
  withdraw: 'withdraw',
  list_transactions: 'history',
  token: 'token',
}
const NARROWEST = 5

/** Makes a painter, with or without colours. */
export function painter(colour: boolean): Paint {
  return (sgr, text) => (colour ? `\u001b[${sgr}m${text}\u001b[0m` : text)
}

/** The matrix and its legend; no lines for an empty matrix. */
export function matrixLines(matrix: Matrix, paint: Paint): string[] {
  if (matrix.rows.length === 0) return []
  const legend = legendOf(matrix).map(
    ({ outcome, sign, name, meaning }) => `${paint(COLOURS[outcome], sign)} ${name}: ${meaning}`,
  )
  return [...matrixRows(matrix, paint), '', ...legend]
}

/** The matrix alone, narrow enough for a terminal on which it is redrawn again and again. */
export function matrixRows({ operations, rows }: Matrix, paint: Paint): string[] {
  const titles = Math.max(...rows.map(({ title }) => title.length))
  const widths = operations.map((operation) => Math.max(NARROWEST, HEADS[operation].length))
  const head = operations.map((operation, column) => HEADS[operation].padEnd(widths[column] ?? 0)).join('  ')
  const line = ({ title, cells }: MatrixRow) => {
    const texts = cells.map((cell, column) => cellText(cell, widths[column] ?? 0, paint))
    return `${title.padEnd(titles)}  ${texts.join('  ')}`.trimEnd()
  }
  return [`${' '.repeat(titles)}  ${head}`.trimEnd(), ...rows.map(line)]
}

function cellText(cell: Cell | undefined, width: number, paint: Paint): string {
  if (!cell) return ' '.repeat(width)
  const text = `${signOf(cell)}${countIn(cell)}`
  return paint(COLOURS[cell.outcome], text) + ' '.repeat(Math.max(0, width - text.length))
}
