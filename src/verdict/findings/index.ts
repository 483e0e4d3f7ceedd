import type { Finding } from '../finding.ts'
import { idempotencyKeyFormat } from './idempotency-key-format.ts'

/** Every finding, in the order of `FINDING_IDS`. */
export const FINDINGS: readonly Finding[] = [idempotencyKeyFormat]
