import { beganAt } from '../evidence/answers.ts'
import { isHabit, PERHAPS_A_TEST } from '../evidence/doubts.ts'
import { userTokens } from '../evidence/tokens.ts'
import { plural } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

/** Seconds. spec: User token 3 */
const HOUR = 3600
/** Seconds by which clients may set iat back, for clocks that differ. */
const MARGIN = 300

export const userTokenLifetime: Finding = {
  id: 'user-token-lifetime',
  title: 'User tokens live an hour at most',
  failureTitle: 'User tokens live longer than an hour: a stolen one opens the account for as long',
  rule: 'User token, rule 3: "exp: Expiry. A lifetime of 1 hour is used in the reference flow."',
  impact: 'minor',
  consequence: "A thief of such a token can move the end user's funds until it expires; it cannot be revoked.",
  situation: 'a request with a user token',
  exerciseWith: '',
  fix: 'Set exp to iat + 3600, and mint another token when it is about to expire.',
  wrongClients: ['user-token-for-a-day'],
  judge,
}

function judge({ exchanges }: Evidence): Judgement {
  const tokens = userTokens(exchanges).flatMap(({ claims, exchange }) => {
    const lifetime = lifetimeOf(claims ?? {}, beganAt(exchange) / 1000)
    return lifetime === undefined ? [] : [{ exchange, lifetime }]
  })
  const wrong = tokens.filter(({ lifetime }) => lifetime > HOUR + MARGIN)
  const right = tokens.length - wrong.length
  const longest = tokens.reduce((most, { lifetime }) => Math.max(most, lifetime), 0)
  if (wrong.length === 0) {
    if (right === 0) return notExercised('No request came with a user token that expires.')
    const explanation = `${plural(right, 'user token')} lived an hour or less, the longest ${spoken(longest)}.`
    return passed(
      explanation,
      tokens.slice(0, 1).map(({ exchange }) => exchange),
    )
  }
  const facts = `${wrong.length} of ${plural(tokens.length, 'user token')} lived longer than an hour, the longest ${spoken(longest)}.`
  const shown = wrong.slice(0, 2).map(({ exchange }) => exchange)
  if (!isHabit(right, wrong.length)) return needsReview(`${facts} ${PERHAPS_A_TEST}`, shown)
  return failed(facts, { expected: 'exp one hour after iat', came: spoken(longest) }, shown)
}

/** Seconds from iat, or from the request without it. Undefined for a token that has expired, or whose times are not numbers. */
function lifetimeOf({ iat, exp }: Record<string, unknown>, came: number): number | undefined {
  if (typeof exp !== 'number') return undefined
  const lifetime = exp - (typeof iat === 'number' ? iat : came)
  return lifetime > 0 && exp > came ? lifetime : undefined
}

function spoken(seconds: number): string {
  if (seconds < HOUR) return `${Math.round(seconds / 60)} min`
  return seconds < 48 * HOUR ? `${(seconds / HOUR).toFixed(1)} h` : `${Math.round(seconds / HOUR / 24)} days`
}
