import type { BooksSaid } from '../../books/books.ts'
import { LEVELS, type Level, type OperationOutcome, OUTCOMES } from '../../oracle/outcome.ts'
import { plainText } from '../../render/safe-text.ts'
import { plural } from '../evidence/words.ts'
import type { Outcome } from '../finding.ts'
import type { FindingId } from '../finding-ids.ts'
import type { ExchangeLine, Report, ReportedFinding, Verdict } from '../report.ts'

/** Levels that prevent the verdict "passed". */
const GRAVE: ReadonlySet<Level> = new Set(['critical', 'serious', 'inconclusive', 'review'])
const MILD: ReadonlySet<Level> = new Set(['warning', 'note'])

/** Sign of a verdict in a heading. */
export const VERDICT_SIGNS: Record<Verdict, string> = { passed: '✅', failed: '❌', inconclusive: '⚠️' }

/** Sign of a level. Phones show none of them as a picture. */
export const LEVEL_SIGNS: Record<Level, string> = {
  critical: '✗',
  serious: '✗',
  inconclusive: '?',
  review: '?',
  warning: '!',
  note: '·',
  none: '·',
  ok: '✓',
}

/** Level of what the application's books came to. */
export const BOOKS_LEVELS: Record<BooksSaid['verdict'], Level> = {
  wrong: 'critical',
  lag: 'warning',
  right: 'ok',
  unusable: 'review',
}

/** Operations by importance to a reader. */
export interface ShownOperations {
  /** Operations that prevent the verdict "passed", the worst first. */
  grave: OperationOutcome[]
  /** Warnings, then notes. */
  mild: OperationOutcome[]
  /** The others, counted: "14 operations told, 1 found in the list"; empty when there are none. */
  rest: string
}

/** Sorts the operations of a report by their importance. */
export function shownOperations({ operations }: Pick<Report, 'operations'>): ShownOperations {
  const worstFirst = [...operations].sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level))
  const rest = operations.filter(({ level }) => !GRAVE.has(level) && !MILD.has(level))
  return {
    grave: worstFirst.filter(({ level }) => GRAVE.has(level)),
    mild: worstFirst.filter(({ level }) => MILD.has(level)),
    rest: counted(rest),
  }
}

function counted(operations: readonly OperationOutcome[]): string {
  const counts = new Map<string, number>()
  for (const { outcome } of operations) {
    const { title } = OUTCOMES[outcome]
    counts.set(title, (counts.get(title) ?? 0) + 1)
  }
  const mostFirst = [...counts].sort(([, a], [, b]) => b - a)
  return mostFirst.map(([title, n], i) => `${i === 0 ? plural(n, 'operation') : n} ${title}`).join(', ')
}

/** Findings by their outcome, each in the order of the report. */
export function byOutcome({ findings }: Pick<Report, 'findings'>): Record<Outcome, ReportedFinding[]> {
  const of = (wanted: Outcome) => findings.filter(({ outcome }) => outcome === wanted)
  return {
    failed: of('failed'),
    needs_review: of('needs_review'),
    errored: of('errored'),
    passed: of('passed'),
    not_exercised: of('not_exercised'),
  }
}

/** "16 rules kept, 1 broken, 12 not tested" */
export function tally({
  proved,
  contradicted,
  unproved,
}: Pick<Report, 'proved' | 'contradicted' | 'unproved'>): string {
  return `${plural(proved, 'rule')} kept, ${contradicted} broken, ${unproved} not tested`
}

/** The subject of a report, in a few words. */
export function reportName({ scenario }: Pick<Report, 'scenario'>): string {
  return scenario ?? 'no scenario'
}

/** The exchanges of these requests, in the order of their arrival. */
export function exchangesOf({ exchanges }: Report, request_ids: readonly string[]): ExchangeLine[] {
  const wanted = new Set(request_ids)
  return exchanges.filter(({ request_id }) => wanted.has(request_id))
}

/** The first eight characters of a key: enough to distinguish keys. */
export function shortKey(key: string): string {
  return plainText(key.length > 12 ? `${key.slice(0, 8)}…` : key)
}

/** Milliseconds for people: `40 ms`, `5.0 s`, `2 min 5 s` */
export function durationInWords(ms: number): string {
  if (!Number.isFinite(ms)) return 'unknown'
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 120_000) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}

/** Sign of a rule's outcome in a table. Phones show none of them as a picture. */
export const RULE_SIGNS: Record<Outcome, { sign: string; name: string }> = {
  failed: { sign: '✗', name: 'broken' },
  errored: { sign: '!', name: 'judge failed' },
  needs_review: { sign: '?', name: 'needs review' },
  passed: { sign: '✓', name: 'kept' },
  not_exercised: { sign: '–', name: 'not tested' },
}

const WORST_FIRST = Object.keys(RULE_SIGNS) as Outcome[]

/** A rule's outcome in each of several reports. */
export interface RuleRow {
  id: FindingId
  /** In the order of the reports; undefined for a report without the rule. */
  outcomes: readonly (Outcome | undefined)[]
}

/** Rules that at least one of the reports tested, the broken ones first. */
export function rulesTable(reports: readonly Report[]): RuleRow[] {
  const ids = new Set(reports.flatMap(({ findings }) => findings.map(({ id }) => id)))
  const rows = [...ids].map((id) => ({
    id,
    outcomes: reports.map(({ findings }) => findings.find((finding) => finding.id === id)?.outcome),
  }))
  const worst = ({ outcomes }: RuleRow) => WORST_FIRST.findIndex((outcome) => outcomes.includes(outcome))
  return rows
    .filter(({ outcomes }) => outcomes.some((outcome) => outcome !== undefined && outcome !== 'not_exercised'))
    .sort((a, b) => worst(a) - worst(b))
}
