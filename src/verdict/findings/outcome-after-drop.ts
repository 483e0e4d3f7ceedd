import { rivalry, tokenBetween } from '../evidence/doubts.ts'
import { isOnRecord } from '../evidence/requests.ts'
import { type Step, stepsAfter } from '../evidence/timelines.ts'
import { repeatsOneOf, shows, type UncertainTransfer, uncertainTransfersOf } from '../evidence/uncertain-transfers.ts'
import { endingOf, plural, requestInWords, spell } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

export const outcomeAfterDrop: Finding = {
  id: 'outcome-after-drop',
  title: 'The outcome of a dropped transfer is found out',
  failureTitle: 'Nobody found out what became of a dropped transfer: the books may no longer agree with the chain',
  rule: 'Endpoint 5, rule 2: "When the connection drops, the transaction is still processed. The client polls the transactions list until the transaction appears."',
  impact: 'critical',
  consequence:
    'The transfer may have been carried out, and the partner does not know. Its own books, and what it shows to its end user, may be wrong from then on.',
  situation: 'a deposit or withdrawal whose connection drops',
  exerciseWith: '--scenario dropped-deposit',
  fix: 'Repeat the request with the same Idempotency-Key until there is an answer, or ask for the list of transactions until the transaction is there. Until then, keep the transfer open in your books.',
  wrongClients: ['next-transfer-without-looking', 'gives-up-after-drop'],
  judge,
}

const EXPECTED = 'the same request under the same Idempotency-Key, or GET …/transactions until the transaction is there'

function judge(evidence: Evidence): Judgement {
  const uncertain = uncertainTransfersOf(evidence)
  const judgements = uncertain.map((transfer) => judgeOne(transfer, evidence)).filter((judgement) => judgement !== null)
  const of = (outcome: Judgement['outcome']) => judgements.filter((judgement) => judgement.outcome === outcome)
  const [wrong] = of('failed')
  if (wrong) {
    const count = of('failed').length
    return count > 1 ? { ...wrong, explanation: `${wrong.explanation} This happened ${count} times.` } : wrong
  }
  const [unsure] = of('needs_review')
  if (unsure) return unsure
  const [first, ...others] = of('passed')
  if (!first) return notExercised(explainNone(uncertain))
  const more = others.length > 0 ? ` So it was with ${plural(others.length, 'other')}.` : ''
  return { ...first, explanation: `${first.explanation}${more}` }
}

function explainNone([first]: readonly UncertainTransfer[]): string {
  if (!first) return 'No deposit or withdrawal was dropped.'
  return `${describe(first)} The same came under another Idempotency-Key, which idempotency-key-on-retry and idempotency-key-after-error judge.`
}

function describe({ first }: UncertainTransfer): string {
  return `${requestInWords(first.exchange)} was uncertain: ${endingOf(first.exchange)}.`
}

/** Null if other findings judge the transfer. */
function judgeOne(uncertain: UncertainTransfer, evidence: Evidence): Judgement | null {
  const { first, last, attempts, told, next, looks, found } = uncertain
  const known = told ?? found ?? (uncertain.transfer === null ? (looks[0] ?? null) : null)
  if (known) {
    const how = told
      ? 'It was repeated under the same key and answered.'
      : 'Its client looked it up in the list of transactions.'
    return passed(`${describe(uncertain)} ${how}`, [first.exchange, known.exchange])
  }
  const [look] = looks
  if (look) {
    const explanation = `${describe(uncertain)} Its client asked for the list of transactions ${plural(looks.length, 'time')}, and stopped before the transaction was in it.`
    return needsReview(explanation, [last.exchange, look.exchange])
  }
  if (next === null) return judgeSilence(uncertain, evidence)
  // idempotency-key-on-retry and idempotency-key-after-error judge a retry under a fresh key.
  if (repeatsOneOf(next, attempts) !== false) return null
  return judgeNext(uncertain, next, evidence)
}

/** Judges the case that another transfer came although nobody had found out the outcome of this one. */
function judgeNext(uncertain: UncertainTransfer, next: Step, evidence: Evidence): Judgement {
  const { last, timeline, transfer } = uncertain
  const explanation = `${describe(uncertain)} ${spell(next.began - last.ended)} later came ${requestInWords(next.exchange)}, though nobody had found out what became of the first.`
  const shown = [last.exchange, next.exchange]
  const pair = { write: last, next }
  const rival = rivalry(pair, timeline, () => true) ?? tokenBetween(pair, evidence)
  if (rival !== null) {
    const later = timeline.steps.slice(next.place).find((step) => isList(step) && shows(step, transfer))
    if (later) {
      const how = 'Its client looked it up in the list of transactions.'
      return passed(`${describe(uncertain)} ${how}`, [last.exchange, later.exchange])
    }
  }
  const doubt = rival ?? (isOther(uncertain, next) ? null : UNREAD) ?? doubtOf(uncertain, evidence)
  if (doubt !== null) return needsReview(`${explanation} But ${doubt}.`, shown)
  return failed(explanation, { expected: EXPECTED, came: requestInWords(next.exchange) }, shown)
}

const UNREAD = 'the body of one of the two requests is not on record, and the second may be the first again'

/** @returns true if two different transfers are certain: lengths alone show that bodies differ, but not that the transfers do */
function isOther({ attempts, first }: UncertainTransfer, { exchange }: Step): boolean {
  if (exchange.operation !== first.exchange.operation) return true
  return isOnRecord(exchange) && attempts.some((attempt) => isOnRecord(attempt.exchange))
}

/** Judges the case that no later request could have revealed the outcome. */
function judgeSilence(uncertain: UncertainTransfer, evidence: Evidence): Judgement {
  const { first, last } = uncertain
  if (!evidence.ended) return needsReview(`${describe(uncertain)} Nothing has followed so far.`, [first.exchange])
  const explanation = `${describe(uncertain)} Nothing followed that shows what became of it.`
  const doubt =
    last.exchange.end === 'abandoned' ? 'the client may have been ended from outside' : doubtOf(uncertain, evidence)
  if (doubt !== null) return needsReview(`${explanation} But ${doubt}.`, [first.exchange])
  return failed(explanation, { expected: EXPECTED, came: 'nothing' }, [first.exchange])
}

/** Reason why the client may know the outcome, or may be right not to; null if it ended well without having been told. */
function doubtOf({ unanswered, last, timeline, transfer }: UncertainTransfer, evidence: Evidence): string | null {
  if (transfer === null)
    return 'it was not carried out, so it may stay open in the books until a later run sends it again'
  if (!unanswered)
    return 'the specification says so of dropped connections only; an error of the server leaves the same doubt'
  const since = [...stepsAfter(timeline, last)]
  if (since.some((step) => isList(step) && step.fate === 'done'))
    return 'the list of transactions was asked for later, and whether its client noticed the transfer there cannot be seen'
  if (since.some(isList)) return 'its client asked for the list of transactions and got no answer'
  if (since.some(({ exchange }) => exchange.operation === 'list_portfolios'))
    return 'its client asked for the portfolios, and whether it concluded from the balance cannot be seen'
  if ((evidence.rpc_at ?? 0) >= last.ended) return 'the chain was asked afterwards, and may have shown it'
  if (!evidence.ended) return 'the client has not ended yet'
  return evidence.end === 'well' ? null : ENDS[evidence.end ?? 'unknown']
}

/** Reasons why a client may have been right to stop, by the end of its command. */
const ENDS = {
  failed: 'its command ended with a failure: a worker that is started again may ask then',
  hung: 'its command did not end by itself',
  unknown: 'nobody knows how its command ended: a worker that fails, and is started again, may ask then',
}

function isList({ exchange }: Step): boolean {
  return exchange.operation === 'list_transactions'
}
