import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { beganAt, endedAt } from '../evidence/answers.ts'
import { type IdpTokenUse, idpTokens, isFetch, LAST_MINUTE } from '../evidence/tokens.ts'
import { plural, spell } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

/** Milliseconds that pass between a look at the clock and the request. */
const ON_THE_WAY = 2000
/** The same on a busy machine that starts processes in between, as shell scripts do. */
const LONG_ON_THE_WAY = 20_000
/** A client that counts whole seconds may be early by one. */
const WHOLE_SECOND = 1000

export const idpTokenExpiry: Finding = {
  id: 'idp-token-expiry',
  title: 'Access tokens are not used in their last 60 seconds',
  failureTitle: 'Access tokens are used in their last 60 seconds: some expire on the way and are refused',
  rule: 'Identity-provider token, rule 3: "The response has access_token and expires_in. Clients cache the token until 60 seconds before expiry."',
  impact: 'minor',
  consequence:
    'Once an hour, requests are refused with 401 although nothing is wrong; a transfer that waits for its confirmation is hit most.',
  situation: 'a token that gets so old that less than 60 seconds are left',
  exerciseWith: '--scenario short-lived-token',
  fix: 'Note the time when you ask for the token, and treat it as gone at that time + expires_in − 60 seconds.',
  wrongClients: ['token-used-to-the-last-second'],
  judge,
}

function judge({ exchanges }: Evidence): Judgement {
  // A token that lives a minute or less cannot be cached, and a spoiled one does not live as long as it says.
  const cacheable = [...idpTokens(exchanges).values()].filter(({ spoiled }) => !spoiled).filter(isCacheable)
  const late = cacheable.flatMap((token) => lateUses(token).map((use) => ({ token, use })))
  const [first] = late
  if (first && isBeyondDoubt(late)) {
    const { facts, came, shown } = told(first, late.length)
    return failed(facts, { expected: 'another token as soon as 60 s are left', came }, shown)
  }

  const fetches = exchanges.filter(isFetch)
  const doubtful = new Set(late.map(({ token }) => token))
  // If a client fetches a token for each request, none can get old.
  const kept = cacheable.some(({ uses }) => uses.length > 1) ? cacheable : []
  const renewed = kept.flatMap((token) => {
    const fetch = doubtful.has(token) ? undefined : successorOf(token, fetches)
    return fetch && token.expiresAt - beganAt(fetch) <= LAST_MINUTE + WHOLE_SECOND ? [{ token, fetch }] : []
  })
  const [shown] = renewed
  if (shown) {
    const explanation = `${plural(renewed.length, 'access token')} had less than 60 s left, and another one was obtained instead of using it.`
    return passed(
      explanation,
      [shown.token.uses.at(-1), shown.fetch].flatMap((one) => one ?? []),
    )
  }
  if (!first) return notExercised('No access token that was in use got into its last 60 seconds and was needed then.')
  const reason = told(first, late.length)
  return needsReview(
    `${reason.facts} It may have been longer on its way than usual; traffic cannot tell.`,
    reason.shown,
  )
}

/** A request with a token in its last minute. */
interface LateUse {
  token: IdpTokenUse
  use: RecordedExchange
}

function told({ token, use }: LateUse, count: number) {
  const left = token.expiresAt - beganAt(use)
  const came = left > 0 ? `a request with ${spell(left)} left` : `a request ${spell(-left)} after it had expired`
  const facts = `${plural(count, 'request')} sent an access token that had less than 60 s to live: ${came}.`
  return { facts, came, shown: [token.fetches.at(-1), use].flatMap((one) => one ?? []) }
}

function isCacheable({ fetches }: IdpTokenUse): boolean {
  return fetches.every(({ response }) => (response?.issued?.expires_in ?? 0) * 1000 > LAST_MINUTE)
}

/** Uses in the last minute, without repetitions: a client may repeat a request unchanged, headers included. */
function lateUses({ uses, expiresAt }: IdpTokenUse): RecordedExchange[] {
  const keys = new Set<string | undefined>()
  return uses.filter((use) => {
    const key = use.idempotency?.key
    const repetition = keys.has(key)
    if (key !== undefined) keys.add(key)
    return beganAt(use) > expiresAt - LAST_MINUTE + ON_THE_WAY && !repetition
  })
}

/**
 * @returns true if late uses cannot be explained by a slow network: one followed another late one on the same connection, or several
 * came much too late.
 */
function isBeyondDoubt(late: readonly LateUse[]): boolean {
  const ends = new Map<string, number>()
  let muchTooLate = 0
  for (const { token, use } of late) {
    const began = beganAt(use)
    const process = `${use.connection} ${token.fingerprint}`
    if ((ends.get(process) ?? Number.POSITIVE_INFINITY) <= began) return true
    ends.set(process, Math.min(ends.get(process) ?? Number.POSITIVE_INFINITY, endedAt(use)))
    if (began > token.expiresAt - LAST_MINUTE + LONG_ON_THE_WAY) muchTooLate++
  }
  return muchTooLate > 1
}

/** The tenant's next token request after the last use. */
function successorOf({ uses, fetches }: IdpTokenUse, all: readonly RecordedExchange[]): RecordedExchange | undefined {
  const last = uses.at(-1)
  const tenant = fetches[0]?.tenant
  return last && all.find((one) => one.tenant === tenant && one.number > last.number)
}
