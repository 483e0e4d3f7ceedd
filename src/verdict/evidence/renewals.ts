import { shorten } from '../../support/foreign-text.ts'
import { grouped } from '../../support/maps.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { type Evidence, failed, type Judgement, needsReview, passed } from '../finding.ts'
import { beganAt, endedAt, refusedWith } from './answers.ts'
import { isHabit } from './doubts.ts'
import { sameBody } from './requests.ts'
import { requestSignature } from './tokens.ts'
import { plural } from './words.ts'

/** A client's wrong reactions to a refused token, in words. */
const WRONG: Record<Exclude<Deed, 'renewed' | 'unclear'>, { did: string; came: string }> = {
  same_token: { did: 'it was repeated with the token that had just been refused', came: 'the same token again' },
  loop: {
    did: 'it was repeated again and again, although each new token was refused as well',
    came: 'repetition after repetition',
  },
  nothing: { did: 'it was not sent again', came: 'nothing' },
}

/** Judges clients by their reactions to refused tokens. There must be at least one refusal. */
export function judgeRenewals({ exchanges, ended }: Evidence, question: RenewalQuestion & { noun: string }): Judgement {
  const { noun, code } = question
  const found = renewals(exchanges, question)
  const right = found.filter(({ did }) => did === 'renewed')
  const wrong = found.filter(isWrong)
  const unclear = found.find(({ did }) => did === 'unclear')
  const first = wrong.find(({ did }) => did === 'loop') ?? wrong[0]
  if (!first && unclear) {
    return needsReview(
      `${sentence(unclear, code)} What came next may be the same request or another one.`,
      unclear.shown,
    )
  }
  if (!first) {
    const explanation = `${plural(right.length, 'time')} a request was refused with 401 ${code}, and came once more with another ${noun}.`
    return passed(explanation, right[0]?.shown ?? [])
  }
  if (first.did === 'nothing' && !ended) {
    return needsReview(`${sentence(first, code)} Nothing followed so far.`, first.shown)
  }
  if (first.did === 'loop' || isHabit(right.length + (unclear ? 1 : 0), wrong.length)) {
    const { did, came } = WRONG[first.did]
    const expected = `the same request once more with another ${noun}`
    return failed(`${sentence(first, code)} Then ${did}.`, { expected, came }, first.shown)
  }
  const reason = `${plural(right.length, 'time')} a request refused with 401 ${code} came once more with another ${noun}, ${plural(wrong.length, 'time')} not. That may be a test of the refusal.`
  return needsReview(reason, first.shown)
}

function sentence({ refused }: Renewal, code: string): string {
  const whose = refused.external_id === null ? '' : ` of ${shorten(refused.external_id, 40)}`
  return `${refused.operation}${whose} was refused with 401 ${code}.`
}

function isWrong(renewal: Renewal): renewal is Renewal & { did: keyof typeof WRONG } {
  return renewal.did in WRONG
}

/**
 * A client's reaction to a refused token. `renewed`: the same request once more, with another token. `same_token`: the same request with
 * the token that had been refused. `loop`: again and again under one key, although new tokens were refused as well.
 * `nothing`: the request was not sent again. `unclear`: the next request may be the same or another one.
 */
export type Deed = 'renewed' | 'same_token' | 'loop' | 'nothing' | 'unclear'

/** A refusal, and the reaction. */
export interface Renewal {
  refused: RecordedExchange
  did: Deed
  /** The refusal and the requests that show the reaction, oldest first, as few as possible. */
  shown: RecordedExchange[]
}

/** The kind of refusals to look for. */
export interface RenewalQuestion {
  /** `invalid_idp_token`, `invalid_user_token` */
  code: string
  /** @returns true if another token can remedy the refusal */
  counts(refused: RecordedExchange): boolean
  /** @returns true if `next` came with another token than `refused`, or with one obtained since */
  isFresh(refused: RecordedExchange, next: RecordedExchange): boolean
}

/** Maximum number of refusals that are examined: they are enough to show a habit. */
const LOOKED_AT = 100
/** Minimum number of refusals in a row under one key that make a loop. */
const LOOP = 3
/** Maximum number of repetitions of one request that are examined. */
const LONGEST = 6
/** Milliseconds: a loop goes on at once, and a token is obtained faster. A queue that comes back later starts a new attempt. */
const SOON = 10_000

/** Each refused request with the client's reaction; a request that is itself a repetition belongs to the first one. */
export function renewals(exchanges: readonly RecordedExchange[], question: RenewalQuestion): Renewal[] {
  const service = exchanges.filter(({ operation }) => operation !== null && operation !== 'token')
  const equals = grouped(service, requestSignature)
  const refusals = service.filter((exchange) => refusedWith(exchange, question.code) && question.counts(exchange))
  const repetitions = new Set<RecordedExchange>()
  return refusals.slice(0, LOOKED_AT).flatMap((refused) => {
    if (repetitions.has(refused)) return []
    const equal = equals.get(requestSignature(refused)) ?? []
    const chain = chainFrom(refused, equal, question)
    for (const one of chain) repetitions.add(one)
    return [renewalOf({ refused, chain, equal }, question)]
  })
}

/** The repetitions of a request, each after the refusal of the one before, until one is not refused for its token. */
function chainFrom(
  refused: RecordedExchange,
  equal: readonly RecordedExchange[],
  { code }: RenewalQuestion,
): RecordedExchange[] {
  const chain: RecordedExchange[] = []
  let from: RecordedExchange | undefined = refused
  while (from && chain.length < LONGEST) {
    const next = repetitionOf(from, equal)
    if (!next) break
    chain.push(next)
    from = refusedWith(next, code) ? next : undefined
  }
  return chain
}

/** The repetition: under the same key, else on the same connection, else any equal request, which may be another worker's. */
function repetitionOf(refused: RecordedExchange, equal: readonly RecordedExchange[]): RecordedExchange | undefined {
  const sameKey = equal.find((one) => isSameKey(refused, one) && follows(refused, one))
  if (sameKey) return sameKey
  const onConnection = equal.find((one) => one.connection === refused.connection && follows(refused, one))
  return onConnection ?? equal.find((one) => follows(refused, one))
}

/** @returns true if an equal-looking request came after the refusal, and may have the same body */
function follows(refused: RecordedExchange, one: RecordedExchange): boolean {
  return one.number > refused.number && beganAt(one) >= endedAt(refused) && sameBody(refused, one) !== false
}

interface Followed {
  refused: RecordedExchange
  chain: readonly RecordedExchange[]
  equal: readonly RecordedExchange[]
}

function renewalOf({ refused, chain, equal }: Followed, { code, isFresh }: RenewalQuestion): Renewal {
  const [first] = chain
  if (!first) return { refused, did: 'nothing', shown: [refused] }
  const inVain = [refused, ...chain].filter((one) => refusedWith(one, code))
  if (isLoop(refused, inVain)) return { refused, did: 'loop', shown: inVain.slice(0, LOOP) }
  const keyed = refused.idempotency !== null
  // A client that never renews looks the same as tests that each give up after one renewal.
  if (!keyed && inVain.length === LONGEST + 1) return { refused, did: 'unclear', shown: inVain.slice(0, LOOP) }
  if (!isSameKey(refused, first) && sameBody(refused, first) === undefined)
    return { refused, did: 'unclear', shown: [refused, first] }
  if (isFresh(refused, first)) return { refused, did: 'renewed', shown: [refused, first] }
  // On another connection, or without a key, it may be another worker's with the old token: then a later one with a new token counts.
  const own = keyed && first.connection === refused.connection
  const isRenewed = (one: RecordedExchange) => isFresh(refused, one) && isSoon(refused, one) && follows(refused, one)
  const fresh = own ? undefined : equal.find(isRenewed)
  if (fresh) return { refused, did: 'renewed', shown: [refused, fresh] }
  return { refused, did: 'same_token', shown: [refused, first] }
}

function isSoon(refused: RecordedExchange, one: RecordedExchange): boolean {
  return beganAt(one) - endedAt(refused) < SOON
}

function isLoop(refused: RecordedExchange, inVain: readonly RecordedExchange[]): boolean {
  const last = inVain.filter((one) => isSameKey(refused, one))[LOOP - 1]
  return last !== undefined && isSoon(refused, last)
}

function isSameKey(one: RecordedExchange, other: RecordedExchange): boolean {
  return one.idempotency !== null && one.idempotency.key === other.idempotency?.key
}
