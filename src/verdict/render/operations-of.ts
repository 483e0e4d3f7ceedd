import { LEVELS, type Level, type OperationOutcome, OUTCOMES } from '../../oracle/outcome.ts'
import { plural } from '../evidence/words.ts'
import type { Report } from '../report.ts'

/** Levels that keep a verdict from "passed". */
const GRAVE: ReadonlySet<Level> = new Set(['critical', 'serious', 'inconclusive', 'review'])
const MILD: ReadonlySet<Level> = new Set(['warning', 'note'])

/** How a level is shown. No sign is one that a phone shows as a picture. */
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

/** Operations, by how much they matter to a reader. */
export interface ShownOperations {
  /** What keeps the verdict from "passed", the worst first. */
  grave: OperationOutcome[]
  /** Warnings, then notes. */
  mild: OperationOutcome[]
  /** The others, counted: "14 operations told, 1 found in the list"; empty when there are none. */
  rest: string
}

/** What became of the operations of a report: the money comes first. */
export function operationsOf({ operations }: Pick<Report, 'operations'>): ShownOperations {
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
