import type { Finding } from '../finding.ts'
import { amountFormat } from './amount-format.ts'
import { amountScale } from './amount-scale.ts'
import { clientTimeout } from './client-timeout.ts'
import { connectionReuse } from './connection-reuse.ts'
import { credentialPlacement } from './credential-placement.ts'
import { cursorDirection } from './cursor-direction.ts'
import { cursorIntegrity } from './cursor-integrity.ts'
import { cursorScope } from './cursor-scope.ts'
import { deprecationNotice } from './deprecation-notice.ts'
import { expiredCursorRestart } from './expired-cursor-restart.ts'
import { idempotencyKeyAfterError } from './idempotency-key-after-error.ts'
import { idempotencyKeyFormat } from './idempotency-key-format.ts'
import { idempotencyKeyOnRetry } from './idempotency-key-on-retry.ts'
import { idempotencyKeyPerOperation } from './idempotency-key-per-operation.ts'
import { idpTokenExpiry } from './idp-token-expiry.ts'
import { idpTokenRefresh } from './idp-token-refresh.ts'
import { idpTokenReuse } from './idp-token-reuse.ts'
import { marketAddress } from './market-address.ts'
import { outcomeAfterDrop } from './outcome-after-drop.ts'
import { paginationCompletion } from './pagination-completion.ts'
import { permanentErrors } from './permanent-errors.ts'
import { pollingPace } from './polling-pace.ts'
import { retryAfter } from './retry-after.ts'
import { retryPace } from './retry-pace.ts'
import { revertedTransfer } from './reverted-transfer.ts'
import { singleCursor } from './single-cursor.ts'
import { singleTransfer } from './single-transfer.ts'
import { unknownFieldTolerance } from './unknown-field-tolerance.ts'
import { userTokenHeader } from './user-token-header.ts'
import { userTokenLifetime } from './user-token-lifetime.ts'
import { userTokenRefresh } from './user-token-refresh.ts'
import { userTokenSubject } from './user-token-subject.ts'

/** Every finding, in the order of `FINDING_IDS`. */
export const FINDINGS: readonly Finding[] = [
  idempotencyKeyOnRetry,
  idempotencyKeyAfterError,
  singleTransfer,
  outcomeAfterDrop,
  idempotencyKeyPerOperation,
  idempotencyKeyFormat,
  revertedTransfer,
  permanentErrors,
  clientTimeout,
  retryAfter,
  retryPace,
  pollingPace,
  amountFormat,
  amountScale,
  marketAddress,
  unknownFieldTolerance,
  expiredCursorRestart,
  cursorIntegrity,
  cursorScope,
  cursorDirection,
  singleCursor,
  paginationCompletion,
  idpTokenReuse,
  idpTokenExpiry,
  idpTokenRefresh,
  userTokenHeader,
  userTokenLifetime,
  userTokenSubject,
  userTokenRefresh,
  credentialPlacement,
  connectionReuse,
  deprecationNotice,
]
