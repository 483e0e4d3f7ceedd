import { rivalry, tokenBetween } from '../evidence/doubts.ts'
import { judgeRetries } from '../evidence/retries.ts'
import { isWrite, type Step } from '../evidence/timelines.ts'
import type { Evidence, Finding, Judgement } from '../finding.ts'

export const idempotencyKeyOnRetry: Finding = {
  id: 'idempotency-key-on-retry',
  title: 'A dropped request is repeated under its own Idempotency-Key',
  failureTitle: 'A dropped request was retried with a new Idempotency-Key: this pays twice',
  rule: 'Idempotency-Key: "Fresh per logical attempt. Reused when retrying a dropped request." Endpoint 5, rule 2: "When the connection drops, the transaction is still processed."',
  impact: 'critical',
  consequence:
    'The dropped deposit or withdrawal goes on without its client. Under another key the service takes the retry for a second one, and the end user pays twice.',
  situation: 'a deposit, withdrawal or new portfolio whose connection drops, and its retry',
  exerciseWith: '--scenario dropped-deposit',
  fix: 'Make the Idempotency-Key once per operation, before the first attempt and outside the retry loop. Store it with the operation, so that it survives a restart.',
  wrongClients: ['fresh-key-on-deposit-retry', 'fresh-key-on-withdraw-retry', 'fresh-key-on-portfolio-retry'],
  judge,
}

function judge(evidence: Evidence): Judgement {
  return judgeRetries(evidence, {
    concerns: ({ fate }) => fate === 'unanswered',
    doubtOf: (retry) => rivalry(retry, retry.timeline, isRival) ?? tokenBetween(retry, evidence),
    otherwise: 'No deposit, withdrawal or new portfolio that had no answer was repeated.',
  })
}

function isRival({ exchange }: Step): boolean {
  return isWrite(exchange)
}
