import type { OperationOutcome } from '../oracle/outcome.ts'
import { shorten } from '../support/foreign-text.ts'
import { amountInWords } from '../support/quantities.ts'
import { plural } from './evidence/words.ts'
import type { ReportedFinding } from './report.ts'

/** One sentence on the money of everybody, for the top of a page. Operations and findings in the order of a report: the gravest first. */
export function reportHeadline(operations: readonly OperationOutcome[], findings: readonly ReportedFinding[]): string {
  const wrong = operations.filter((one) => one.money_moved_wrongly !== undefined)
  const [worst] = wrong
  if (worst) return `${wrongInWords(worst)}${andMore(wrong.length)}.`
  const at = (...levels: OperationOutcome['level'][]) => operations.filter(({ level }) => levels.includes(level))
  const [grave, unknown, open] = [at('critical', 'serious'), at('inconclusive'), at('review')]
  if (grave[0]) return withMore(grave[0].sentence, grave.length)
  if (unknown[0]) return withMore(unknown[0].sentence, unknown.length)
  const broken = findings.filter(({ outcome, accepted }) => outcome === 'failed' && accepted === undefined).length
  const rules = broken === 0 ? '' : broken === 1 ? ', but 1 rule is broken' : `, but ${broken} rules are broken`
  if (open.length > 0) {
    const needs = open.length === 1 ? '1 operation needs' : `${open.length} operations need`
    return `No money is known to be wrong, but ${needs} a look${rules.replace(', but', ', and')}.`
  }
  if (operations.length === 0) return `No money was asked to move${rules}.`
  return `Money is right after ${plural(operations.length, 'operation')}${rules}.`
}

/** `250.00 USDC moved twice for bob` */
function wrongInWords({ outcome, external_id, money_moved_wrongly: moved }: OperationOutcome): string {
  if (!moved) return ''
  const much = `${amountInWords(BigInt(moved.amount_minor), moved.token_decimals)} ${moved.token_symbol}`
  const whose = external_id === null ? '' : ` for ${shorten(external_id, 40)}`
  if (outcome === 'took_out_unpaid') return `${much} was taken out${whose} that was never put in`
  return `${much} moved ${moved.times === 1 ? 'twice' : `${moved.times + 1} times`}${whose}`
}

function andMore(all: number): string {
  return all > 1 ? `, and ${all - 1} more` : ''
}

/** The first sentence of a text; a second one gives advice. */
function withMore(text: string, all: number): string {
  const [first = ''] = text.split(/(?<=\.) /)
  return `${first.replace(/\.$/, '')}${andMore(all)}.`
}
