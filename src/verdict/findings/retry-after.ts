import { grouped } from '../../support/maps.ts'
import type { Moment, RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { beganAt, endedAt, retryAfterOf } from '../evidence/answers.ts'
import { addressOf, idempotencyKeyOf, sameBody } from '../evidence/requests.ts'
import { plural, requestInWords, spell } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

export const retryAfter: Finding = {
  id: 'retry-after',
  title: 'Requests wait as long as Retry-After says',
  failureTitle:
    'Requests are repeated before Retry-After allows it: the service stays overloaded, and refuses them again',
  rule: 'RFC 9110, 10.2.3: Retry-After says "how long the user agent ought to wait before making a follow-up request". The specification shows no limits; the sandbox sends it with 429 and 503.',
  impact: 'minor',
  consequence:
    'Retries at once use up the attempts while the service cannot answer, and prolong the time in which it cannot.',
  situation: 'an answer 429 or 503 with Retry-After, and the same request again',
  exerciseWith: '--scenario rate-limited',
  fix: 'Read Retry-After (seconds, or a date) and wait as long as it says before the same request goes out again.',
  wrongClients: ['retries-at-once'],
  judge,
}

/** Milliseconds by which a timer may fire too early. */
const SLACK_MS = 50

/** Maximum number of later requests that are searched for the next one. */
const MOST = 100

interface Retry {
  refused: RecordedExchange
  next: RecordedExchange
  asked: number
  waited: number
  /** Reason why it may be another request; null if it is the same operation. */
  doubt: string | null
}

function judge({ exchanges }: Evidence): Judgement {
  const asking = exchanges.filter((exchange) => askedToWait(exchange) !== null)
  if (asking.length === 0) return notExercised('No answer 429 or 503 had a Retry-After.')
  const retries = [...grouped(exchanges, addressOf).values()].flatMap(retriesIn)
  const early = retries.filter(({ asked, waited }) => waited < asked - SLACK_MS)
  const certain = early.filter(({ doubt }) => doubt === null)
  const [wrong] = certain
  if (wrong) {
    const often = certain.length > 1 ? ` This happened ${plural(certain.length, 'time')}.` : ''
    const values = { expected: `${spell(wrong.asked)} or more`, came: spell(wrong.waited) }
    return failed(`${describe(wrong)}${often}`, values, [wrong.refused, wrong.next])
  }
  const [doubtful] = early
  if (doubtful) return needsReview(`${describe(doubtful)} But ${doubtful.doubt}.`, [doubtful.refused, doubtful.next])
  const [kept, ...others] = retries
  if (!kept)
    return notExercised(`${plural(asking.length, 'answer')} had a Retry-After, and none of the requests was repeated.`)
  const more = others.length > 0 ? ` So did ${plural(others.length, 'other')}.` : ''
  return passed(`${describe(kept)}${more}`, [kept.refused, kept.next])
}

/** Milliseconds that the client was asked to wait; null if it was not. */
function askedToWait(exchange: RecordedExchange): number | null {
  const { end, response } = exchange
  const isPutOff = end === 'answered' && (response?.status === 429 || response?.status === 503)
  return isPutOff ? retryAfterOf(exchange) : null
}

/** Retries among requests of one address, oldest first. */
function retriesIn(group: readonly RecordedExchange[]): Retry[] {
  return group.flatMap((refused, place) => {
    const asked = askedToWait(refused)
    if (asked === null) return []
    const next = nextOf(refused, group.slice(place + 1, place + MOST))
    if (next === undefined) return []
    return [{ refused, next, asked, waited: waitedFor(refused, next), doubt: doubtOf(refused, next) }]
  })
}

/** Doubt about a retry, or null: without a key, two requests may be different operations. */
function doubtOf(refused: RecordedExchange, next: RecordedExchange): string | null {
  if (idempotencyKeyOf(refused) !== null) return null
  if (sameBody(refused, next) === undefined)
    return 'the body of one of the two is not on record, so it may be another request'
  if (next.connection !== refused.connection) return 'it may be of another worker, which did not get that answer'
  return 'it may be of another test, which did not get that answer'
}

/** The same request after the answer; without a key, preferably on the same connection. */
function nextOf(refused: RecordedExchange, later: readonly RecordedExchange[]) {
  const answered = endedAt(refused)
  const isSame = (one: RecordedExchange) => beganAt(one) >= answered && sameBody(refused, one) !== false
  const onConnection =
    idempotencyKeyOf(refused) === null && later.find((one) => one.connection === refused.connection && isSame(one))
  return onConnection || later.find(isSame)
}

/** The longer of real and business time: a test may move the sandbox's clock instead of waiting. */
function waitedFor(refused: RecordedExchange, next: RecordedExchange): number {
  const between = (clock: keyof Moment) =>
    Date.parse(next.began[clock]) - Date.parse((refused.ended ?? refused.began)[clock])
  return Math.max(between('wall'), between('clock'))
}

function describe({ refused, next, asked, waited }: Retry): string {
  const answer = `${refused.response?.status} with Retry-After ${spell(asked)}`
  return `${requestInWords(refused)} was answered ${answer} and came again ${spell(waited)} later${next.connection === refused.connection ? '' : ', on another connection'}.`
}
