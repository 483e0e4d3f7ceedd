import { grouped } from '../../support/grouped.ts'
import type { Moment, RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { keyOf } from '../evidence/idempotency-key.ts'
import { beganAt, endedAt } from '../evidence/moments.ts'
import { retryAfterOf } from '../evidence/retry-after-header.ts'
import { addressOf } from '../evidence/same-request.ts'
import { nameOf, plural, spell } from '../evidence/words.ts'
import type { Evidence } from '../evidence.ts'
import { type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

export const retryAfter: Finding = {
  id: 'retry-after',
  title: 'Retry-After is kept',
  failureTitle:
    'Requests are repeated before Retry-After allows it: the service stays overloaded, and goes on refusing',
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

/** A timer may fire so much too early. */
const SLACK_MS = 50

/** More requests for the same than these are not looked at, to find the next one. */
const MOST = 100

interface Retry {
  refused: RecordedExchange
  next: RecordedExchange
  asked: number
  waited: number
  /** Why another worker, or another test, may have sent it; null when it is the same operation. */
  doubt: string | null
}

function judge({ exchanges }: Evidence): Judgement {
  const asking = exchanges.filter(asksToWait)
  if (asking.length === 0) return notExercised('No answer 429 or 503 had a Retry-After.')
  const retries = [...grouped(exchanges, addressOf).values()].flatMap(retriesIn)
  const early = retries.filter(({ asked, waited }) => waited < asked - SLACK_MS)
  const certain = early.filter(({ doubt }) => doubt === null)
  const [wrong] = certain
  if (wrong) {
    const often = certain.length > 1 ? ` This happened ${plural(certain.length, 'time')}.` : ''
    const values = { expected: `${spell(wrong.asked)} or more`, came: spell(wrong.waited) }
    return failed(`${tell(wrong)}${often}`, values, [wrong.refused, wrong.next])
  }
  const [doubtful] = early
  const [kept, ...others] = retries.filter((retry) => !early.includes(retry))
  if (doubtful) return needsReview(`${tell(doubtful)} But ${doubtful.doubt}.`, [doubtful.refused, doubtful.next])
  if (!kept)
    return notExercised(`${plural(asking.length, 'answer')} had a Retry-After, and none of the requests was repeated.`)
  const more = others.length > 0 ? ` So did ${plural(others.length, 'other')}.` : ''
  return passed(`${tell(kept)}${more}`, [kept.refused, kept.next])
}

function asksToWait(exchange: RecordedExchange): boolean {
  const { end, response } = exchange
  if (end !== 'answered' || (response?.status !== 429 && response?.status !== 503)) return false
  return retryAfterOf(exchange) !== null
}

/** Retries among requests for the same, oldest first. */
function retriesIn(group: readonly RecordedExchange[]): Retry[] {
  const retries = group.flatMap((refused, place) => {
    const asked = asksToWait(refused) ? retryAfterOf(refused) : null
    if (asked === null) return []
    const keyed = keyOf(refused) !== null
    const next = nextOf(refused, group.slice(place + 1, place + MOST), keyed)
    if (next === undefined) return []
    const elsewhere = !keyed && next.connection !== refused.connection
    const doubt = keyed ? null : elsewhere ? 'it may be another worker, who was not told' : 'it may be another test'
    return [{ refused, next, asked, waited: waitedFor(refused, next), doubt }]
  })
  // One request at once may be the next test's. One that is refused, and comes again at once, is a retry.
  return retries.map((retry, place) => {
    const before = retries[place - 1]
    const again = before?.next === retry.refused && before.waited < before.asked - SLACK_MS
    return again && retry.refused.connection === retry.next.connection ? { ...retry, doubt: null } : retry
  })
}

/** What came when the client had been told: on the same connection if it can be, unless a key says that it is the same request. */
function nextOf(refused: RecordedExchange, later: readonly RecordedExchange[], keyed: boolean) {
  const told = endedAt(refused)
  const isLater = (one: RecordedExchange) => beganAt(one) >= told
  const sameConnection = keyed ? undefined : later.find((one) => one.connection === refused.connection && isLater(one))
  return sameConnection ?? later.find(isLater)
}

/** On the clock that says more: a test may move the sandbox's instead of waiting. */
function waitedFor(refused: RecordedExchange, next: RecordedExchange): number {
  const between = (clock: keyof Moment) =>
    Date.parse(next.began[clock]) - Date.parse((refused.ended ?? refused.began)[clock])
  return Math.max(between('wall'), between('clock'))
}

function tell({ refused, next, asked, waited }: Retry): string {
  const answer = `${refused.response?.status} with Retry-After ${spell(asked)}`
  return `${nameOf(refused)} was answered ${answer} and came again ${spell(waited)} later${next.connection === refused.connection ? '' : ', on another connection'}.`
}
