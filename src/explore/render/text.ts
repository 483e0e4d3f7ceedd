import type { Operation } from '../../domain/operations.ts'
import { plainText } from '../../verdict/render/plain-text.ts'
import type { Exploration, TrialOutcome } from '../exploration.ts'
import { type Cell, type Matrix, matrixOf } from '../matrix.ts'
import { summaryOf } from '../summary.ts'
import { type Incident, incidentsOf } from './incidents.ts'
import { OUTCOMES, SHOWN_IN_FULL } from './outcomes.ts'
import { pace, tally, verdictSentence } from './sentence.ts'

/** Select Graphic Rendition of ECMA-48. */
const COLOURS: Record<TrialOutcome, string> = {
  silently_wrong: '1;31',
  hung: '1;31',
  noticed_too_late: '31',
  errored: '35',
  gave_up_safely: '33',
  not_exercised: '2',
  survived: '32',
}
const VERDICTS = { passed: '1;32', failed: '1;31', inconclusive: '1;33' }

/** Short enough for eight columns on a terminal. */
const HEADS: Record<Operation, string> = {
  list_pools: 'pools',
  create_end_user: 'end user',
  create_portfolio: 'portfolio',
  list_portfolios: 'list',
  deposit: 'deposit',
  withdraw: 'withdraw',
  list_transactions: 'history',
  token: 'token',
}

/** How text is made to stand out; without colours, not at all. */
type Paint = (sgr: string, text: string) => string

/** For a terminal: the matrix, what went wrong in full and the worst first, the rest in a line each. */
export function renderText(exploration: Exploration, { colour = false }: { colour?: boolean } = {}): string {
  const paint = painter(colour)
  const { verdict } = summaryOf(exploration)
  const incidents = incidentsOf(exploration, SHOWN_IN_FULL)
  return [
    ...matrixLines(matrixOf(exploration), { colour }),
    '',
    ...incidents.flatMap((incident) => [...incidentLines(incident, paint), '']),
    ...asideLines(exploration, paint),
    paint(VERDICTS[verdict], verdictSentence(exploration)),
    `${tally(exploration)}. ${pace(exploration)}; seed ${exploration.seed}.`,
    '',
  ].join('\n')
}

/** The matrix, and what its signs mean; nothing when nothing was tried. */
export function matrixLines({ operations, rows }: Matrix, { colour = false }: { colour?: boolean } = {}): string[] {
  if (rows.length === 0) return []
  const paint = painter(colour)
  const titles = Math.max(...rows.map(({ title }) => title.length))
  const widths = operations.map((operation) => HEADS[operation].length)
  const head = operations.map((operation) => HEADS[operation]).join('  ')
  const line = (cells: Matrix['rows'][number]['cells']) =>
    cells.map((cell, column) => cellText(cell, widths[column] ?? 0, paint)).join('  ')
  const seen = new Set(rows.flatMap(({ cells }) => cells.flatMap((cell) => cell?.outcome ?? [])))
  return [
    `${' '.repeat(titles)}  ${head}`,
    ...rows.map(({ title, cells }) => `${title.padEnd(titles)}  ${line(cells)}`.trimEnd()),
    '',
    ...[...seen].map((outcome) => {
      const { sign, name, meaning } = OUTCOMES[outcome]
      return `${paint(COLOURS[outcome], sign)} ${name}: ${meaning}`
    }),
  ]
}

/** How many there are of the worst, where there are several. */
function cellText(cell: Cell | undefined, width: number, paint: Paint): string {
  if (!cell) return ' '.repeat(width)
  const { outcome, results } = cell
  const same = results.filter((result) => result.outcome === outcome).length
  const text = `${OUTCOMES[outcome].sign}${results.length > 1 ? ` ${same}` : ''}`
  return paint(COLOURS[outcome], text) + ' '.repeat(Math.max(0, width - text.length))
}

function incidentLines({ outcome, first, others }: Incident, paint: Paint): string[] {
  const { sign, name } = OUTCOMES[outcome]
  const [more, ...further] = others
  const beside = further.length > 0 ? ` and at ${further.length} other places` : ''
  return [
    `${paint(COLOURS[outcome], sign)} ${paint('1', plainText(first.trial.id))}: ${name}`,
    ...first.sentences.map((sentence) => `    ${plainText(sentence)}`),
    ...first.findings.map(({ id, title, explanation }) => `    why: ${title} (${id}). ${plainText(explanation)}`),
    ...(more === undefined ? [] : [`    also: ${plainText(more)}${beside}`]),
    `    again: ${plainText(first.repeat)}`,
  ]
}

/** What is no failure, and has to be known. */
function asideLines(exploration: Exploration, paint: Paint): string[] {
  const aside = (['gave_up_safely', 'errored', 'not_exercised'] as const).flatMap((outcome) => {
    return incidentsOf(exploration, [outcome]).map(({ first, others }) => {
      const also = others.length > 0 ? `, and ${others.length} alike` : ''
      const why = plainText(first.sentences.join('; '))
      return `${paint(COLOURS[outcome], OUTCOMES[outcome].sign)} ${plainText(first.trial.id)}${also}: ${why}`
    })
  })
  const { untried, baseline } = exploration
  return [
    ...aside,
    ...(baseline.difference === null
      ? []
      : [`Tolerated: runs without faults differ (${plainText(baseline.difference)}).`]),
    ...(untried === null ? [] : [`Not tried: ${untried.ids.length} more (${plainText(untried.reason)}).`]),
    ...(aside.length > 0 || untried !== null || baseline.difference !== null ? [''] : []),
  ]
}

function painter(colour: boolean): Paint {
  return (sgr, text) => (colour ? `\u001b[${sgr}m${text}\u001b[0m` : text)
}
