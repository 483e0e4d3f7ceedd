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

/** When each phase is, as the end of a sentence: "The connection is reset once the transaction is out." */
export const MOMENTS: Record<Phase, string> = {
  on_request: 'when the request comes',
  before_broadcast: 'before the transaction is out',
  after_broadcast: 'once the transaction is out',
  after_confirmation: 'once the transaction is confirmed',
  during_response: 'when the answer goes out',
}

/** Phases that only deposits and withdrawals have. */
export const TRANSFER_PHASES: ReadonlySet<Phase> = new Set<TransferPhase>([
  'before_broadcast',
  'after_broadcast',
  'after_confirmation',
])
