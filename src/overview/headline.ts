import type { OperationOutcome } from '../oracle/outcome.ts'
import { shorten } from '../support/foreign-text.ts'
import { deedInWords } from '../verdict/deed-in-words.ts'
import type { Headline } from './contract.ts'
import type { JudgedOperations } from './judged-operations.ts'

/** The headline before anything was judged. */
export const NO_HEADLINE: Headline = {
  ...{ tone: 'plain', sentence: 'No money has moved yet.', operation_number: null, operation_title: null, more: 0 },
  ...{ proved: 0, contradicted: 0, unproved: 0 },
}

/** One sentence on the money of everybody. `numberOf` finds the row of a request. */
export function headlineOf(judged: JudgedOperations, numberOf: (requestId: string) => number | undefined): Headline {
  const { outcomes, rules, evidence } = judged
  const grave = outcomes.filter(isWrong)
  const worth = grave.length > 0 ? grave : outcomes.filter(isDoubtful)
  const [worst] = worth
  if (worst) {
    const rows = new Set(worth.map(({ request_ids: [first = ''] }) => numberOf(first)))
    return {
      tone: grave.length > 0 ? 'bad' : 'warn',
      sentence: `${deedInWords(worst, evidence)}.`,
      operation_number: numberOf(worst.request_ids[0] ?? '') ?? null,
      operation_title: titleOf(worst),
      more: Math.max(0, rows.size - 1),
      ...rules,
    }
  }
  return { ...NO_HEADLINE, ...quiet(judged), ...rules }
}

function isWrong({ level }: OperationOutcome): boolean {
  return level === 'critical' || level === 'serious'
}

/** What may be wrong; what is only not known yet is not worth a headline. */
function isDoubtful({ level, outcome }: OperationOutcome): boolean {
  if (outcome === 'not_known_yet' || outcome === 'forgotten') return false
  return level === 'inconclusive' || level === 'review'
}

function quiet({
  outcomes,
  evidence: { forgotten, taken_over },
}: JudgedOperations): Pick<Headline, 'tone' | 'sentence'> {
  if (outcomes.every(({ request_ids }) => request_ids.length === 0))
    return { tone: 'plain', sentence: NO_HEADLINE.sentence }
  if (forgotten.room + forgotten.deleted > 0 || taken_over !== undefined)
    return { tone: 'ok', sentence: 'Money is right, as far as the record goes back.' }
  return { tone: 'ok', sentence: 'Money is right.' }
}

const NOUNS = { deposit: 'deposit', withdraw: 'withdrawal', create_portfolio: 'new portfolio' } as const

/** "bob's deposit" */
function titleOf({ external_id, type }: OperationOutcome): string {
  return external_id === null ? `a ${NOUNS[type]}` : `${shorten(external_id, 40)}'s ${NOUNS[type]}`
}
