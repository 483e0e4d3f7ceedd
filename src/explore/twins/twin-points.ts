import type { Operation } from '../../domain/operations.ts'
import type { Phase } from '../../faults/phase.ts'
import { isWrite } from '../crash/crash-points.ts'
import type { PlannedHazard } from '../plan/hazards.ts'
import type { Place } from '../plan/positions.ts'

/** When the second process is started, and how long the first one is held. */
export interface TwinPoint {
  /** Phase at which the first process is held while the second one runs to its end, or to its rest. */
  phase: Phase
  /** Both are started at once, and both are held at the {@link Barrier} until the other one is there. */
  atOnce?: true
}

/** A second process beside the first, and the exchanges where it makes sense. */
export interface PlannedTwin extends PlannedHazard {
  rule: null
  twin: TwinPoint
}

/** Number of starts at the barrier. What the two processes do between two requests is up to them: each is a sample, none a proof. */
const STARTS = 5

/**
 * Every interleaving of two processes that an order of requests can bring about, for each write of the first: a second process that is
 * started before the write, while it is under way, and before its answer. Whatever lies between two requests is left to chance.
 */
export const TWINS: readonly PlannedTwin[] = [
  {
    id: 'twin-while-held-on-request',
    title: 'twin, held on request',
    urgency: 'money',
    rule: null,
    twin: { phase: 'on_request' },
    fits: isWrite,
  },
  {
    id: 'twin-while-under-way',
    title: 'twin, transfer under way',
    urgency: 'money',
    rule: null,
    twin: { phase: 'after_broadcast' },
    fits: ({ transferred }) => transferred,
  },
  {
    id: 'twin-while-unanswered',
    title: 'twin, done and not answered',
    urgency: 'money',
    rule: null,
    twin: { phase: 'during_response' },
    fits: isWrite,
  },
  ...Array.from({ length: STARTS }, (_, i): PlannedTwin => {
    return {
      id: `twins-at-once-${i + 1}`,
      title: `twins at once, by chance (${i + 1})`,
      urgency: 'rest',
      rule: null,
      twin: { phase: 'on_request', atOnce: true },
      fits: ({ firstWrite = false }) => firstWrite,
    }
  }),
]

/** The twin of that id; undefined for a fault and a crash. */
export function twinOf(id: string): PlannedTwin | undefined {
  return TWINS.find((twin) => twin.id === id)
}

/** The request of each process at which twins that are started at once wait for each other. */
export interface Barrier {
  operation: Operation
  /** Ordinal (from 1) among the requests of that operation, of all end users, by the same process. */
  ordinal: number
}

/** The exchange before the first write of the unharmed run, or that write if nothing comes before it; undefined without a write. */
export function barrierOf(places: readonly Place[]): Barrier | undefined {
  const at = places.findIndex(({ firstWrite }) => firstWrite)
  const until = places.slice(0, Math.max(1, at))
  const operation = until.at(-1)?.position.operation
  if (at < 0 || operation === undefined) return undefined
  return { operation, ordinal: until.filter(({ position }) => position.operation === operation).length }
}
