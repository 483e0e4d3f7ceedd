import type { Finding } from '../finding.ts'
import { cursorDirection } from './cursor-direction.ts'
import { cursorIntegrity } from './cursor-integrity.ts'
import { cursorScope } from './cursor-scope.ts'
import { expiredCursorRestart } from './expired-cursor-restart.ts'
import { idempotencyKeyFormat } from './idempotency-key-format.ts'
import { singleCursor } from './single-cursor.ts'

/** Every finding, in the order of `FINDING_IDS`. */
export const FINDINGS: readonly Finding[] = [
  idempotencyKeyFormat,
  expiredCursorRestart,
  cursorIntegrity,
  cursorScope,
  cursorDirection,
  singleCursor,
]
