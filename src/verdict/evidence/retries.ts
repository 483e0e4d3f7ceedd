import { shorten } from '../../support/foreign-text.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { type Evidence, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'
import { isUncertain } from './answers.ts'
import type { Pair } from './doubts.ts'
import {
  attemptsOf,
  isCarriedOut,
  isWrite,
  type Step,
  stepsAfter,
  type Timeline,
  tellsOutcome,
  timelinesOf,
} from './timelines.ts'
import { isFresh, isLookUp, repeatsOneOf, sequelOf, shows, type WriteSequel } from './uncertain-transfers.ts'
import { endingOf, plural, requestInWords, spell } from './words.ts'

/** The same write under another key. */
export interface Retry extends Pair {
  timeline: Timeline
  /** The attempts under the first key, oldest first; `write` is the last of them. */
  attempts: readonly Step[]
}

/** Defines which retries a finding judges. */
export interface RetryRule {
  /** @returns true if the attempt had to be repeated */
  concerns(write: Step): boolean
  /** Reason why the request under another key may not be a retry; null if it is one. */
  doubtOf(retry: Retry): string | null
  /** Explanation when there is no retry. */
  otherwise: string
}

/** Maximum number of retries under another key that are examined: a client that repeats for ever has thousands. */
const LOOKED_AT = 200

const UNREAD = 'the body of one of the two requests is not on record'

/** Judges whether the retries that a rule concerns keep their keys. */
export function judgeRetries(evidence: Evidence, rule: RetryRule): Judgement {
  const { kept, changed, doubtful } = retriesOf(evidence, rule)
  const [worst] = changed
  if (worst) {
    const often = changed.length > 1 ? ` This happened ${changed.length} times.` : ''
    const explanation = `${describe(worst)}${describeTransfers(worst)}${often}`
    return failed(
      explanation,
      { expected: describeKey(worst.write), came: describeKey(worst.next) },
      exchangesOf(worst),
    )
  }
  const [unsure] = doubtful
  if (unsure) {
    const explanation = `${describe(unsure)} Whether it is a retry cannot be known: ${unsure.doubt}.`
    return needsReview(explanation, exchangesOf(unsure))
  }
  const [good] = kept
  if (!good) return notExercised(rule.otherwise)
  const others = kept.length > 1 ? ` So did ${plural(kept.length - 1, 'other')}.` : ''
  return passed(`${describeAgain(good, 'the same')}${others}`, [good.write.exchange, good.next.exchange])
}

/** Sorts retries by their keys; each write is judged at its first attempt. */
function retriesOf(evidence: Evidence, { concerns, doubtOf }: RetryRule) {
  const kept: Pair[] = []
  const changed: Retry[] = []
  const doubtful: (Retry & { doubt: string })[] = []
  for (const timeline of timelinesOf(evidence)) {
    for (const write of timeline.steps) {
      const attempts = attemptsOf(timeline, write)
      if (!isWrite(write.exchange) || write.kept || attempts[0] !== write || !concerns(write)) continue
      const sequel = sequelOf(write, timeline)
      const retry = retryUnderAnotherKey({ write, sequel, attempts, timeline }, evidence)
      if (!retry && sequel.kind === 'repeated') kept.push({ write, next: sequel.step })
      if (!retry) continue
      if (changed.length + doubtful.length === LOOKED_AT) return { kept, changed, doubtful }
      const doubt = retry.doubt ?? doubtOf(retry)
      if (doubt === null) changed.push(retry)
      else doubtful.push({ ...retry, doubt })
    }
  }
  return { kept, changed, doubtful }
}

interface Repeated {
  write: Step
  sequel: WriteSequel
  attempts: readonly Step[]
  timeline: Timeline
}

function retryUnderAnotherKey(
  { write, sequel, attempts, timeline }: Repeated,
  evidence: Evidence,
): (Retry & { doubt: string | null }) | null {
  const last = attempts.at(-1) ?? write
  if (sequel.kind === 'same_again') {
    return { write: last, next: sequel.step, timeline, attempts, doubt: sequel.certain ? null : UNREAD }
  }
  // A client that repeats a request under its key breaks the rule if it finally sends it again under another key.
  return sequel.kind === 'repeated' ? madeAnew(last, { attempts, timeline }, evidence) : null
}

/** The same request under another key, after every attempt under the first had ended without reporting the outcome. */
function madeAnew(write: Step, { attempts, timeline }: Pick<Repeated, 'attempts' | 'timeline'>, evidence: Evidence) {
  if (attempts.some(tellsOutcome) || !attempts.some(({ fate }) => isUncertain(fate))) return null
  const over = Math.max(...attempts.map(({ ended }) => ended))
  const transfer = attempts.map(({ exchange }) => exchange.transfer).find((one) => one?.transaction_id) ?? null
  let looked = false
  for (const next of stepsAfter(timeline, { place: write.place, ended: over })) {
    if (isLookUp(next, write)) {
      if (shows(next, transfer)) return null
      looked = true
    } else if (isFresh(next, write, timeline)) {
      const same = repeatsOneOf(next, attempts)
      if (same === false) continue
      const twice = isCarriedOut(attempts, evidence) && isCarriedOut([next], evidence)
      // After a look at the list, paying again is right if nothing had been done.
      if (looked && !twice) return null
      return { write, next, timeline, attempts, doubt: doubtOfAnew({ same: same === true, looked, twice }, attempts) }
    }
  }
  return null
}

function doubtOfAnew(
  { same, looked, twice }: { same: boolean; looked: boolean; twice: boolean },
  attempts: readonly Step[],
): string | null {
  if (!same) return UNREAD
  if (looked) return 'the list was asked for in between, and single-transfer judges that'
  if (attempts.some(({ fate }) => fate === 'unknown')) return 'one of the attempts may have been answered'
  return twice ? null : 'the ledger does not have both'
}

function describe({ attempts, ...pair }: Retry): string {
  if (attempts.length === 1) return describeAgain(pair, 'another')
  const { write, next } = pair
  const later = spell(Math.max(0, next.began - write.ended))
  return `${requestInWords(write.exchange)} was sent ${plural(attempts.length, 'time')} under one Idempotency-Key, and no answer said what became of it. It came again ${later} later, under another.`
}

function describeAgain({ write, next }: Pair, key: string): string {
  const later = spell(Math.max(0, next.began - write.ended))
  return `${requestInWords(write.exchange)} had to be repeated: ${endingOf(write.exchange)}. It came again ${later} later, under ${key} Idempotency-Key.`
}

/** Reports that both transfers were carried out, if so. */
function describeTransfers({ attempts, next }: Retry): string {
  const first = attempts.map(({ exchange }) => exchange.transfer?.tx_hash).find((hash) => hash)
  const second = next.exchange.transfer?.tx_hash
  return first && second && first !== second ? ` Both were carried out: ${first} and ${second}.` : ''
}

function describeKey({ key }: Step): string {
  return `Idempotency-Key: ${shorten(key ?? 'none', 60)}`
}

function exchangesOf({ attempts, write, next }: Retry): RecordedExchange[] {
  return [...attempts.slice(0, 1), write, next].map(({ exchange }) => exchange)
}
