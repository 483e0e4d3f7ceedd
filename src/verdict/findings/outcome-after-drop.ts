import { rivalry, tokenBetween } from '../evidence/doubts.ts'
import type { Step } from '../evidence/timelines.ts'
import { asksTheSame, shows, type UncertainTransfer, uncertainTransfersOf } from '../evidence/uncertain-transfers.ts'
import { endingOf, nameOf, plural, spell } from '../evidence/words.ts'
import type { Evidence } from '../evidence.ts'
import { type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

export const outcomeAfterDrop: Finding = {
  id: 'outcome-after-drop',
  title: 'After a drop the outcome of a transfer is found out before anything new is sent',
  failureTitle: 'A dropped transfer was taken for done or for failed: the books no longer agree with the chain',
  rule: 'Endpoint 5, rule 2: "When the connection drops, the transaction is still processed. The client polls the transactions list until the transaction appears."',
  impact: 'critical',
  consequence:
    'The transfer goes through, or does not, and the partner never learns which. Its own books, and what it shows to its end user, are wrong from then on.',
  situation: 'a deposit or withdrawal whose connection drops',
  exerciseWith: '--scenario dropped-deposit',
  fix: 'Repeat the request with the same Idempotency-Key until there is an answer, or ask for the list of transactions until it is there. Only then go on.',
  wrongClients: ['next-transfer-without-looking', 'gives-up-after-drop'],
  judge,
}

const EXPECTED = 'the same request under the same Idempotency-Key, or GET …/transactions until the transaction is there'

function judge(evidence: Evidence): Judgement {
  const judgements = uncertainTransfersOf(evidence)
    .map((transfer) => judgeOne(transfer, evidence))
    .filter((judgement) => judgement !== null)
  const of = (outcome: Judgement['outcome']) => judgements.filter((judgement) => judgement.outcome === outcome)
  const [wrong] = of('failed')
  if (wrong) {
    const count = of('failed').length
    return count > 1 ? { ...wrong, explanation: `${wrong.explanation} This happened ${count} times.` } : wrong
  }
  const right = of('passed')
  const [first] = right
  const others = right.length > 1 ? ` So it was with ${plural(right.length - 1, 'other')}.` : ''
  return (
    of('needs_review')[0] ??
    (first
      ? { ...first, explanation: `${first.explanation}${others}` }
      : notExercised('No deposit or withdrawal was dropped.'))
  )
}

/** Null when the transfer is another finding's. */
function judgeOne(uncertain: UncertainTransfer, evidence: Evidence): Judgement | null {
  const { first, last, attempts, told, next, looks, found } = uncertain
  const what = `${nameOf(first.exchange)} was uncertain: ${endingOf(first.exchange)}.`
  const known = told ?? found ?? (uncertain.transfer === null ? (looks[0] ?? null) : null)
  if (known) {
    const how = told
      ? 'It was repeated under the same key and answered.'
      : 'Its client looked it up in the list of transactions.'
    return passed(`${what} ${how}`, [first.exchange, known.exchange])
  }
  const [look] = looks
  if (look) {
    const explanation = `${what} Its client asked for the list of transactions ${plural(looks.length, 'time')}, and stopped before the transaction was in it.`
    return needsReview(explanation, [last.exchange, look.exchange])
  }
  if (next === null) return judgeSilence(uncertain, what, evidence)
  // A retry under a fresh key is judged by idempotency-key-on-retry and idempotency-key-after-error.
  if (attempts.length === 1 && asksTheSame(next, uncertain) !== false) return null
  return judgeNext(uncertain, next, what, evidence)
}

/** Another transfer came, and nobody had asked what became of this one. */
function judgeNext(uncertain: UncertainTransfer, next: Step, what: string, evidence: Evidence): Judgement {
  const { unanswered, last, timeline, transfer } = uncertain
  const explanation = `${what} ${spell(next.began - last.ended)} later came ${nameOf(next.exchange)}, though nobody had found out what became of the first.`
  const shown = [last.exchange, next.exchange]
  const pair = { write: last, next }
  const doubt = rivalry(pair, timeline, () => true) ?? tokenBetween(pair, evidence)
  if (doubt !== null) {
    const later = timeline.steps.find((step) => step.place > next.place && isList(step) && shows(step, transfer))
    if (later)
      return passed(`${what} Its client looked it up in the list of transactions.`, [last.exchange, later.exchange])
    return needsReview(`${explanation} But ${doubt}.`, shown)
  }
  if (!unanswered) {
    return needsReview(
      `${explanation} The specification says so of dropped connections only; an error of the server leaves the same doubt.`,
      shown,
    )
  }
  return failed(explanation, { expected: EXPECTED, came: nameOf(next.exchange) }, shown)
}

/** Nothing came any more that could tell the outcome. */
function judgeSilence(
  { first, last, unanswered, timeline }: UncertainTransfer,
  what: string,
  evidence: Evidence,
): Judgement {
  const since = timeline.steps.filter((step) => step.place > last.place && step.began >= last.ended)
  const review = (reason: string) => needsReview(`${what} ${reason}`, [first.exchange])
  if (!evidence.ended) return review('Nothing has followed so far.')
  if (!unanswered) return review('Nothing followed that tells what became of it.')
  if (last.exchange.end === 'abandoned') return review('Nothing followed: the client may have been ended from outside.')
  if (since.some(isList)) return review('Its client asked for the list of transactions and got no answer.')
  if (since.some(({ exchange }) => exchange.operation === 'list_portfolios')) {
    return review('Its client asked for the portfolios; whether it concluded from the balance, traffic cannot tell.')
  }
  return failed(`${what} Nothing followed that tells what became of it.`, { expected: EXPECTED, came: 'nothing' }, [
    first.exchange,
  ])
}

function isList({ exchange }: Step): boolean {
  return exchange.operation === 'list_transactions'
}
