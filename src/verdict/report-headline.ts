import type { OperationOutcome } from '../oracle/outcome.ts'
import { deedInWords } from './deed-in-words.ts'
import { plural } from './evidence/words.ts'
import type { ReportedFinding } from './report.ts'

/** One sentence on the money of everybody, for the top of a page. Operations and findings in the order of a report: the gravest first. */
export function reportHeadline(operations: readonly OperationOutcome[], findings: readonly ReportedFinding[]): string {
  const wrong = operations.filter((one) => one.money_moved_wrongly !== undefined)
  const [worst] = wrong
  if (worst) return withMore(worst, wrong.length)
  const at = (...levels: OperationOutcome['level'][]) => operations.filter(({ level }) => levels.includes(level))
  const [grave, unknown, open] = [at('critical', 'serious'), at('inconclusive'), at('review')]
  if (grave[0]) return withMore(grave[0], grave.length)
  if (unknown[0]) return withMore(unknown[0], unknown.length)
  const broken = findings.filter(({ outcome, accepted }) => outcome === 'failed' && accepted === undefined).length
  const rules = broken === 0 ? '' : broken === 1 ? ', but 1 rule is broken' : `, but ${broken} rules are broken`
  if (open.length > 0) {
    const needs = open.length === 1 ? '1 operation needs' : `${open.length} operations need`
    return `No money is known to be wrong, but ${needs} a look${rules.replace(', but', ', and')}.`
  }
  if (operations.length === 0) return `No money was asked to move${rules}.`
  return `Money is right after ${plural(operations.length, 'operation')}${rules}.`
}

/** An operation in words, and how many more there are like it. */
function withMore(worst: OperationOutcome, all: number): string {
  return `${deedInWords(worst, { named: true })}${all > 1 ? `, and ${all - 1} more` : ''}.`
}
