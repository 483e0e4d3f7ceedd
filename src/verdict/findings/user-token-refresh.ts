import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { endedAt, refusedWith } from '../evidence/answers.ts'
import { judgeRenewals } from '../evidence/renewals.ts'
import { type Evidence, type Finding, type Judgement, notExercised } from '../finding.ts'

const CODE = 'invalid_user_token'

export const userTokenRefresh: Finding = {
  id: 'user-token-refresh',
  title: 'A refused user token is replaced by a fresh one, and the request repeated once',
  failureTitle:
    'A refused user token is not answered by one fresh token and one repetition: end users see failures that need not be',
  rule: 'User token, rule 4: "A failed signature check or an expired token gives 401 invalid_user_token."',
  impact: 'serious',
  consequence:
    'A token that expires in the cache locks an end user out, and a deposit that the end user asked for is not made.',
  situation: 'a request refused with 401 invalid_user_token although its user token was right',
  exerciseWith: '--scenario bad-user-signature',
  fix: 'On 401 invalid_user_token mint a fresh user token, repeat the request once under the same Idempotency-Key, and report the error if that is refused as well.',
  wrongClients: ['no-fresh-user-token'],
  judge,
}

function judge(evidence: Evidence): Judgement {
  const { exchanges } = evidence
  const accepted = new Set<string>()
  for (const { request, response } of exchanges) {
    if (request.user_token && response && response.status < 400) accepted.add(request.user_token.fingerprint)
  }
  // A token that was never right is a test's, or a configuration mistake.
  const counts = ({ request, faults }: RecordedExchange) =>
    request.user_token !== null && (faults.length > 0 || accepted.has(request.user_token.fingerprint))
  if (!exchanges.some((one) => refusedWith(one, CODE) && counts(one))) {
    return notExercised('No user token that was right was refused.')
  }
  return judgeRenewals(evidence, { noun: 'user token', code: CODE, counts, isFresh })
}

/** @returns true for another token, or an equal one of the same second: RS256 gives the same signature for the same claims */
function isFresh(refused: RecordedExchange, next: RecordedExchange): boolean {
  const [old, fresh] = [refused.request.user_token, next.request.user_token]
  if (!fresh) return false
  const issuedAt = fresh.claims?.iat
  const sameSecond = typeof issuedAt === 'number' && issuedAt >= Math.floor(endedAt(refused) / 1000)
  return fresh.fingerprint !== old?.fingerprint || sameSecond
}
