import type { Evidence } from '../finding.ts'
import { overlap, type Step, type Timeline } from './timelines.ts'

/** A write, and a later step that may come from the same sender. */
export interface Pair {
  write: Step
  next: Step
}

/** Reason why another worker may have sent one of the two: other requests were in flight at the same time. Null for none. */
export function rivalry({ write, next }: Pair, timeline: Timeline, counts: (step: Step) => boolean): string | null {
  if (timeline.crowded)
    return 'several workers write for this end user at the same time, and the second may be of another one'
  const isRival = (step: Step) =>
    step !== write && step !== next && (overlap(step, write) || overlap(step, next)) && counts(step)
  if (!timeline.steps.some(isRival)) return null
  return 'other requests for this end user were in flight at the same time, perhaps of another worker'
}

/** Reason why another run of the client may have sent the second: another access token, or a token fetched in between. Null for none. */
export function tokenBetween({ write, next }: Pair, { exchanges }: Evidence): string | null {
  const [first, second] = [write, next].map(({ exchange }) => exchange.request.idp_token?.fingerprint)
  if (first !== undefined && second !== undefined && first !== second) {
    return 'the second came with another access token, perhaps of another worker'
  }
  const fetched = exchanges.some(({ operation, tenant, began: { wall } }) => {
    if (operation !== 'token' || (tenant !== null && tenant !== write.exchange.tenant)) return false
    const began = Date.parse(wall)
    return began >= write.ended && began <= next.began
  })
  return fetched ? 'a token was fetched in between, perhaps by another run of the client' : null
}

/**
 * @returns true if the same process sent both, as far as traffic shows: on one connection, or with the same access token and the same
 * user token, which processes seldom share. A client with a pool of connections may use any of them.
 */
export function sameSender({ exchange: one }: Step, { exchange: other }: Step): boolean {
  return one.connection === other.connection || (sameToken('idp_token') && sameToken('user_token'))

  function sameToken(kind: 'idp_token' | 'user_token'): boolean {
    const fingerprint = one.request[kind]?.fingerprint
    return fingerprint !== undefined && fingerprint === other.request[kind]?.fingerprint
  }
}

/**
 * @returns true if wrong requests are the client's habit rather than tests of a refusal: there are more wrong ones than
 * right ones.
 */
export function isHabit(right: number, wrong: number): boolean {
  return wrong > right
}

/** Added to the facts when a single wrong request may be on purpose. */
export const PERHAPS_A_TEST = 'It may be a test of how the service refuses this.'
