import { shorten } from '../../support/shorten.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import type { Evidence } from '../evidence.ts'
import { failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'
import type { Pair } from './doubts.ts'
import { sequelOf } from './sequel.ts'
import { attemptsOf, isWrite, type Step, type Timeline, timelinesOf } from './timelines.ts'
import { endingOf, nameOf, plural, spell } from './words.ts'

/** A retry under another key. */
export interface Retry extends Pair {
  /** Whether both had the same body for certain: one of them may not have been read. */
  certain: boolean
  timeline: Timeline
}

/** What makes retries a finding's. */
export interface RetryRule {
  /** Which attempts had to be repeated. */
  concerns(write: Step): boolean
  /** Why what came under another key may be no retry; null when it is one. */
  doubtOf(retry: Retry): string | null
  /** What to say when there is no retry. */
  otherwise: string
}

/** So many retries under another key show a habit well enough: a client that asks in vain for ever has thousands. */
const LOOKED_AT = 200

/** Whether the retries that a rule is about keep their keys. */
export function judgeRetries(evidence: Evidence, rule: RetryRule): Judgement {
  const { kept, changed, doubtful } = retriesOf(evidence, rule)
  const [worst] = changed
  if (worst) {
    const often = changed.length > 1 ? ` This happened ${changed.length} times.` : ''
    const explanation = `${tell(worst, 'another')}${tellTransfers(worst)}${often}`
    return failed(explanation, { expected: tellKey(worst.write), came: tellKey(worst.next) }, exchangesOf(worst))
  }
  const [unsure] = doubtful
  if (unsure) {
    const explanation = `${tell(unsure, 'another')} Whether it is a retry cannot be known: ${unsure.doubt}.`
    return needsReview(explanation, exchangesOf(unsure))
  }
  const [good] = kept
  if (!good) return notExercised(rule.otherwise)
  const others = kept.length > 1 ? ` So did ${plural(kept.length - 1, 'other')}.` : ''
  return passed(`${tell(good, 'the same')}${others}`, exchangesOf(good))
}

/** Retries by their keys, judged by the first attempt of each write. */
function retriesOf(evidence: Evidence, { concerns, doubtOf }: RetryRule) {
  const kept: Pair[] = []
  const changed: Retry[] = []
  const doubtful: (Retry & { doubt: string })[] = []
  for (const timeline of timelinesOf(evidence)) {
    for (const write of timeline.steps) {
      // Who has repeated a request under its key knows the rule; what comes when that is in vain, outcome-after-drop judges.
      const isFirst = attemptsOf(timeline, write)[0] === write
      if (!isWrite(write.exchange) || !isFirst || !concerns(write)) continue
      const sequel = sequelOf(write, timeline)
      if (sequel.kind === 'repeated') kept.push({ write, next: sequel.step })
      if (sequel.kind !== 'same_again') continue
      if (changed.length + doubtful.length === LOOKED_AT) return { kept, changed, doubtful }
      const retry = { write, next: sequel.step, certain: sequel.certain, timeline }
      const doubt = doubtOf(retry)
      if (doubt === null) changed.push(retry)
      else doubtful.push({ ...retry, doubt })
    }
  }
  return { kept, changed, doubtful }
}

function tell({ write, next }: Pair, key: string): string {
  const later = spell(Math.max(0, next.began - write.ended))
  return `${nameOf(write.exchange)} had to be repeated: ${endingOf(write.exchange)}. It came again ${later} later, under ${key} Idempotency-Key.`
}

/** That two transfers came of one, if so. */
function tellTransfers({ write, next }: Pair): string {
  const [first, second] = [write.exchange.transfer?.tx_hash, next.exchange.transfer?.tx_hash]
  return first && second && first !== second ? ` Both were carried out: ${first} and ${second}.` : ''
}

function tellKey({ key }: Step): string {
  return `Idempotency-Key: ${shorten(key ?? 'none', 60)}`
}

function exchangesOf({ write, next }: Pair): RecordedExchange[] {
  return [write.exchange, next.exchange]
}
