import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { type IdpToken, idpTokens, isFetch, LAST_MINUTE } from '../evidence/idp-tokens.ts'
import { beganAt } from '../evidence/moments.ts'
import { plural, spell } from '../evidence/words.ts'
import type { Evidence } from '../evidence.ts'
import { type Finding, failed, type Judgement, notExercised, passed } from '../finding.ts'

/** Between looking at the clock and sending, time passes on a busy machine: milliseconds. */
const ON_THE_WAY = 2000
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
  // One that lives no longer than a minute cannot be cached; one that is spoiled does not live as long as it says.
  const cacheable = [...idpTokens(exchanges).values()].filter(({ spoiled }) => !spoiled).filter(isCacheable)
  const late = cacheable.flatMap((token) => lateUses(token).map((use) => ({ token, use })))
  const [first] = late
  if (first) {
    const left = first.token.expiresAt - beganAt(first.use)
    const came = left > 0 ? `a request with ${spell(left)} left` : `a request ${spell(-left)} after it had expired`
    return failed(
      `${plural(late.length, 'request')} sent an access token that had less than 60 s to live: ${came}.`,
      { expected: 'another token as soon as 60 s are left', came },
      [first.token.fetches.at(-1), first.use].flatMap((one) => one ?? []),
    )
  }

  const fetches = exchanges.filter(isFetch)
  const renewed = cacheable.flatMap((token) => {
    const fetch = token.uses.length > 1 ? successorOf(token, fetches) : undefined
    return fetch && token.expiresAt - beganAt(fetch) <= LAST_MINUTE + WHOLE_SECOND ? [{ token, fetch }] : []
  })
  const [shown] = renewed
  if (!shown) return notExercised('No access token that was in use got into its last 60 seconds and was needed then.')
  const explanation = `${plural(renewed.length, 'access token')} had less than 60 s left, and another one was obtained instead of using it.`
  return passed(
    explanation,
    [shown.token.uses.at(-1), shown.fetch].flatMap((one) => one ?? []),
  )
}

function isCacheable({ fetches }: IdpToken): boolean {
  return fetches.every(({ response }) => (response?.issued?.expires_in ?? 0) * 1000 > LAST_MINUTE)
}

/** Uses in the last minute. What repeats a request that got no answer may send it again as it was, headers and all. */
function lateUses({ uses, expiresAt }: IdpToken): RecordedExchange[] {
  const keys = new Set<string>()
  return uses.filter((use) => {
    const key = use.idempotency?.key
    const repetition = key !== undefined && keys.has(key)
    if (key !== undefined) keys.add(key)
    return beganAt(use) > expiresAt - LAST_MINUTE + ON_THE_WAY && !repetition
  })
}

/** The next token request of that tenant after it was used last. */
function successorOf({ uses, fetches }: IdpToken, all: readonly RecordedExchange[]): RecordedExchange | undefined {
  const last = uses.at(-1)
  const tenant = fetches[0]?.tenant
  return last && all.find((one) => one.tenant === tenant && one.number > last.number)
}
