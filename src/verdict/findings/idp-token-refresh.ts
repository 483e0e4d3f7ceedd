import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { beganAt, endedAt, refusedWith } from '../evidence/answers.ts'
import { judgeRenewals } from '../evidence/renewals.ts'
import { idpTokenOf, idpTokens, isFetch } from '../evidence/tokens.ts'
import { type Evidence, type Finding, type Judgement, notExercised } from '../finding.ts'

const CODE = 'invalid_idp_token'

export const idpTokenRefresh: Finding = {
  id: 'idp-token-refresh',
  title: 'A refused access token is replaced once, and the request repeated',
  failureTitle:
    'A refused access token is not answered by one new token and one repetition: end users see failures that need not be',
  rule: 'Identity-provider token, rule 6: "An expired or malformed token … gives 401 invalid_idp_token. The client refreshes and retries once."',
  impact: 'serious',
  consequence:
    'When the identity provider changes its keys, requests fail until somebody restarts the client, or the client asks for tokens until it is locked out.',
  situation: 'a request refused with 401 invalid_idp_token although its token came from the identity provider',
  exerciseWith: '--scenario idp-token-expiry',
  fix: 'On 401 invalid_idp_token discard the cached token, obtain another one, and repeat the request once under the same Idempotency-Key. If that is refused as well, report the error.',
  wrongClients: ['no-refresh-after-401', 'refresh-loop'],
  judge,
}

function judge(evidence: Evidence): Judgement {
  const { exchanges } = evidence
  const issued = idpTokens(exchanges)
  const fetches = exchanges.filter(isFetch)
  // A token that never came from the identity provider is a test's, or a configuration mistake.
  const counts = (refused: RecordedExchange) => issued.has(idpTokenOf(refused) ?? '') || refused.faults.length > 0
  if (!exchanges.some((one) => refusedWith(one, CODE) && counts(one))) {
    return notExercised('No access token that the identity provider had issued was refused.')
  }
  return judgeRenewals(evidence, {
    noun: 'access token',
    code: CODE,
    counts,
    // Tokens issued within the same second are equal: one that was fetched since then counts as fresh.
    isFresh: (refused, next) =>
      idpTokenOf(next) !== idpTokenOf(refused) ||
      fetches.some(
        (fetch) =>
          beganAt(fetch) >= endedAt(refused) && endedAt(fetch) <= beganAt(next) && fetch.tenant === next.tenant,
      ),
  })
}
