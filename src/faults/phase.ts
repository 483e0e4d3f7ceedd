import type { TransferPhase } from '../domain/transfers.ts'

/** Moments of a request at which a fault may strike, in order. */
export const PHASES = [
  'on_request',
  'before_broadcast',
  'after_broadcast',
  'after_confirmation',
  'during_response',
] as const

/** One of {@link PHASES}. */
export type Phase = (typeof PHASES)[number]

/** Phases that only deposits and withdrawals have. */
export const TRANSFER_PHASES: ReadonlySet<Phase> = new Set<TransferPhase>([
  'before_broadcast',
  'after_broadcast',
  'after_confirmation',
])
