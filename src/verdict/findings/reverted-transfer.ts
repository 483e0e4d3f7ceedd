import { attemptsOf, isTransfer, type Step, timelinesOf } from '../evidence/timelines.ts'
import { plural, requestInWords } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

export const revertedTransfer: Finding = {
  id: 'reverted-transfer',
  title: 'A reverted transfer is not repeated under its Idempotency-Key',
  failureTitle: 'A reverted transfer is repeated under the same Idempotency-Key, which can never succeed',
  rule: 'Endpoint 5, rule 3: "When the same Idempotency-Key is retried after completion, the server returns the cached response." A revert is a completion: nothing moved.',
  impact: 'serious',
  consequence:
    'The answer of a key stays what it is. A client that repeats gets the same refusal for ever, and its end user never learns that nothing was moved.',
  situation: 'a deposit or withdrawal that is answered 422 transaction_reverted',
  exerciseWith: '--scenario reverted-deposit',
  fix: 'Take transaction_reverted for final and inform the end user. If the transfer is still wanted, it is a new operation with a fresh key.',
  wrongClients: ['reverted-transfer-repeated'],
  judge,
}

/** Minimum number of repetitions that cannot be a test of the kept answer. */
const LOOP = 2

function judge(evidence: Evidence): Judgement {
  const reverted = timelinesOf(evidence).flatMap((timeline) =>
    timeline.steps
      .filter((step) => !step.kept && attemptsOf(timeline, step).find(isReverted) === step)
      .map((step) => ({ step, timeline, again: repetitionsOf(step, attemptsOf(timeline, step)) })),
  )
  const [first] = reverted
  if (!first) return notExercised('No deposit or withdrawal was answered 422 transaction_reverted.')
  const worst = reverted.reduce((one, other) => (other.again.length > one.again.length ? other : one))
  const { step, again } = worst
  const facts = `${requestInWords(step.exchange)} was answered 422 transaction_reverted`
  const shown = [step, ...again].map(({ exchange }) => exchange)
  if (again.length >= LOOP) {
    const explanation = `${facts} and came again under the same Idempotency-Key ${plural(again.length, 'time')}.`
    return failed(explanation, { expected: 'no repetition, or a fresh key', came: 'the same key' }, shown.slice(0, 3))
  }
  if (again.length > 0) {
    return needsReview(
      `${facts} and came once more under the same Idempotency-Key. That may be a test of what is kept under a key.`,
      shown,
    )
  }
  const pending = reverted.find((one) => !one.timeline.steps.some(({ began }) => began >= one.step.ended))
  if (!evidence.ended && pending) return needsReview(`${facts}. Nothing has followed so far.`, [pending.step.exchange])
  return passed(`${facts} and did not come again under the same Idempotency-Key.`, [step.exchange])
}

function isReverted({ exchange }: Step): boolean {
  return isTransfer(exchange) && exchange.end === 'answered' && exchange.response?.code === 'transaction_reverted'
}

/** Attempts after the client had been told. */
function repetitionsOf(reverted: Step, attempts: readonly Step[]): Step[] {
  return attempts.filter(({ place, began }) => place > reverted.place && began >= reverted.ended)
}
