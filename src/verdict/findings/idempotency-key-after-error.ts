import { rivalry, tokenBetween } from '../evidence/doubts.ts'
import { judgeRetries, type Retry } from '../evidence/retries.ts'
import { isWrite, type Step } from '../evidence/timelines.ts'
import type { Evidence, Finding, Judgement } from '../finding.ts'

export const idempotencyKeyAfterError: Finding = {
  id: 'idempotency-key-after-error',
  title: 'A request is repeated under its own Idempotency-Key after an error answer that allows a retry',
  failureTitle:
    'After an error answer a request was retried with a new Idempotency-Key: after a 5xx this can pay twice',
  rule: 'Idempotency-Key: "The same key is reused when retrying the same logical operation."',
  impact: 'critical',
  consequence:
    'A 502, 503 or 504 may come from a proxy while the transfer goes on behind it. Under another key the retry is a second transfer, and the end user pays twice.',
  situation: 'a deposit, withdrawal or new portfolio that is answered 401, 429 or 5xx, and its retry',
  exerciseWith: "--fault 'error; status=503; phase=after_broadcast; operation=deposit'",
  fix: 'Make the Idempotency-Key once per operation. Whatever renews a token or waits for Retry-After must send the same request again, with the same key.',
  wrongClients: ['fresh-key-after-503', 'fresh-key-after-token-refresh'],
  judge,
}

function judge(evidence: Evidence): Judgement {
  const issued = new Set(evidence.exchanges.map(({ response }) => response?.issued?.token.fingerprint))
  return judgeRetries(evidence, {
    concerns: ({ fate }) => fate === 'server_error' || fate === 'not_now',
    doubtOf(retry) {
      const status = retry.write.exchange.response?.status
      const rivals = rivalry(retry, retry.timeline, isRival)
      if (rivals !== null) return rivals
      if (status === 401) return doubtOfToken(retry, issued)
      // A client that reports 429 to its customer and goes on to an equal order looks the same.
      return status === 429 ? 'nothing had been done, so it may be a new operation' : tokenBetween(retry, evidence)
    },
    otherwise: 'No deposit, withdrawal or new portfolio that was answered 401, 429 or 5xx was repeated.',
  })
}

function isRival({ exchange }: Step): boolean {
  return isWrite(exchange)
}

/** Doubt about a retry after 401, or null: a good token must be renewed, but one that was never good may be a test of a refusal. */
function doubtOfToken({ write: { exchange } }: Retry, issued: ReadonlySet<string | undefined>): string | null {
  const { faults, request, response } = exchange
  if (faults.length > 0) return null
  const token = request.idp_token?.fingerprint
  const wasGood = response?.code === 'invalid_idp_token' && token !== undefined && issued.has(token)
  return wasGood ? null : 'the token may have been wrong on purpose, and the request with a good one a new operation'
}
