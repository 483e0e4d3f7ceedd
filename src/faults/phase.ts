import type { TransferPhase } from '../domain/transfers.ts'

/** When a fault may strike in the life of a request, in order. */
export const PHASES = [
  'on_request',
  'before_broadcast',
  'after_broadcast',
  'after_confirmation',
  'during_response',
] as const

/** One of {@link PHASES}. */
export type Phase = (typeof PHASES)[number]

/** Phases that only a deposit or withdrawal goes through. */
export const TRANSFER_PHASES: ReadonlySet<Phase> = new Set<TransferPhase>([
  'before_broadcast',
  'after_broadcast',
  'after_confirmation',
])
