import { shorten } from '../support/foreign-text.ts'
import { amountInWords } from '../support/quantities.ts'
import type { Ledger } from './facts.ts'
import type { ClientOperation } from './operation.ts'
import type { OperationType, OutcomeId } from './outcome.ts'

const NOUNS: Record<OperationType, string> = {
  deposit: 'deposit',
  withdraw: 'withdrawal',
  create_portfolio: 'new portfolio',
}

/** Whose operation it is and of how much: "alice's deposit of 250.00 USDC". */
export function describeOperation(operation: ClientOperation, { portfolios }: Ledger): string {
  const { external_id, type, amount_minor, portfolio_id, pool_id } = operation
  const portfolio =
    portfolio_id === null
      ? portfolios.find((one) => pool_id !== null && one.pool_id === pool_id)
      : portfolios.find((one) => one.portfolio_id === portfolio_id)
  const whose = external_id === null ? `A ${NOUNS[type]}` : `${shorten(external_id, 40)}'s ${NOUNS[type]}`
  if (amount_minor === null) return whose
  if (!portfolio || !/^\d{1,78}$/.test(amount_minor)) return `${whose} of ${shorten(amount_minor, 40)} minor units`
  return `${whose} of ${amountInWords(BigInt(amount_minor), portfolio.token_decimals)} ${portfolio.token_symbol}`
}

const HINT =
  'That is right only if your app keeps it open and asks again later: --restarts 1 runs the command once more and judges then'

/** What happened, for people: one sentence or two. `what` names the operation. */
export function sentenceOf(outcome: OutcomeId, operation: ClientOperation, what: string): string {
  const { transfers, attempts } = operation
  const answer = lastAnswerOf(operation)
  const made = operation.type === 'create_portfolio' ? 'was made' : 'was carried out'
  const sentences: Record<OutcomeId, string> = {
    paid_twice: `${what} had no answer, was sent again under another key, and was carried out both times.`,
    paid_twice_put_right: `${what} had no answer, was sent again under another key, and was carried out both times; one of them was taken back.`,
    made_twice: `${what} had no answer, was asked for again under another key, and was made both times.`,
    took_out_unpaid: `${what} takes out what was, for all that your client could know, never put in.`,
    untold: `${what} ${made}, and your command ended well without being told. ${HINT}.`,
    left_open: `${what} ${made}, and your command had not been told when it ended. ${HINT}.`,
    hung: 'Your command was not done in time.',
    forgotten: `${what} is in the ledger, and its requests are forgotten: nothing is said of it.`,
    not_known_yet: `${what} was still under way: nothing is known of it yet.`,
    contradiction: `${what} was answered as done, and the ledger does not have it: that is a mistake of the sandbox.`,
    perhaps_told: `${what} ${made}, and only a list, a balance or the chain that your command may read anyway showed it: whether your app noticed cannot be seen.`,
    key_expired: `${what} came again under its key after that had expired; it was carried out ${times(transfers.length)}.`,
    lucky: `${what} had no answer and was sent again under another key. The first one had not been carried out: whenever it is, that pays twice.`,
    not_asked_for: `${what} was never asked for, and your command ended well.`,
    another_amount: `${what} is of another amount than without faults.`,
    key_again: `${what} was answered, and its key came again afterwards (${attempts.length} requests): a second order under it never happens.`,
    equal_at_once: `${what} was asked for twice at once under two keys, and carried out both times.`,
    gave_up: `${what} was not carried out, and your client was not told so.`,
    gave_up_looked: `${what} was not carried out; your client looked and did not find it. No list says that it never will be.`,
    stopped: `${what} was never asked for: your command ended before.`,
    taken_back: `${what} takes back what was put in before.`,
    refused: `${what} was refused (${answer}), your client was told, and nothing moved.`,
    put_off: `${what} was put off (${answer}), your client was told, and nothing moved.`,
    misled: `A fault told your client that ${lower(what)} was refused, though it ${made}: not judged.`,
    found: `${what} ${made}, and your client found it in the list.`,
    told: `${what} ${made}, and your client was told.`,
  }
  return sentences[outcome]
}

/** `422 transaction_reverted` */
function lastAnswerOf({ attempts }: ClientOperation): string {
  const answered = attempts.filter(({ said }) => said !== 'nothing').at(-1)?.exchange.response
  return answered ? [answered.status, answered.code].filter((part) => part !== null).join(' ') : 'no answer'
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

function lower(text: string): string {
  return /^A /.test(text) ? `a ${text.slice(2)}` : text
}
