import type { OperationOutcome } from '../oracle/outcome.ts'
import { shorten } from '../support/foreign-text.ts'
import { amountInWords } from '../support/quantities.ts'
import type { Evidence } from './finding.ts'

/** What an operation is put in words with. */
export interface DeedContext {
  /** The portfolios, by which an amount has a token; without them, the operation's own sentence says it. */
  portfolios?: Evidence['ledger']['portfolios']
  /** True to name the end user: "250.00 USDC moved twice for bob". */
  named?: boolean
}

/** What an operation did to the money, in words without a full stop: "250.00 USDC moved twice", and for others the first sentence of theirs. */
export function deedInWords(operation: OperationOutcome, { portfolios, named = false }: DeedContext = {}): string {
  const { outcome, external_id, money_moved_wrongly: moved, sentence } = operation
  const whose = !named || external_id === null ? '' : ` for ${shorten(external_id, 40)}`
  if (moved) {
    const much = `${amountInWords(BigInt(moved.amount_minor), moved.token_decimals)} ${moved.token_symbol}`
    if (outcome === 'took_out_unpaid') return `${much} was taken out${whose} that was never put in`
    if (outcome === 'wrong_books') return `${much} moved${whose}, and the books do not have it`
    return `${much} moved ${moved.times === 1 ? 'twice' : `${moved.times + 1} times`}${whose}`
  }
  if (outcome === 'made_twice') return `A portfolio was made twice${whose}`
  const own = DEEDS[outcome]
  if (own && portfolios) return `${amountIn(operation, portfolios)} ${own}`
  const [first = ''] = sentence.split(/(?<=\.) /)
  return first.replace(/\.$/, '')
}

const NO_ANSWER = 'moved, and no answer reached the client'
const DEEDS: Partial<Record<OperationOutcome['outcome'], string>> = {
  paid_twice: 'moved twice',
  paid_twice_put_right: 'moved twice, and was put right',
  took_out_unpaid: 'was taken out that was never put in',
  untold: NO_ANSWER,
  left_open: NO_ANSWER,
  lucky: 'nearly moved twice',
}

function amountIn(
  { amount_minor, portfolio_id, type }: OperationOutcome,
  portfolios: Evidence['ledger']['portfolios'],
): string {
  if (type === 'create_portfolio') return 'A portfolio'
  if (amount_minor === null) return 'An amount'
  const portfolio = portfolios.find((one) => one.portfolio_id === portfolio_id)
  if (!portfolio || !/^\d{1,78}$/.test(amount_minor)) return `${shorten(amount_minor, 40)} minor units`
  return `${amountInWords(BigInt(amount_minor), portfolio.token_decimals)} ${portfolio.token_symbol}`
}
