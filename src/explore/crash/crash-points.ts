import { TRANSFERS } from '../../faults/parameters.ts'
import type { Phase } from '../../faults/phase.ts'
import type { PlannedHazard } from '../plan/hazards.ts'
import type { Place } from '../plan/positions.ts'

/** When the command is killed, and what becomes of the exchange that it waits for. */
export interface KillPoint {
  /** Phase at which the exchange is held until the command is dead. */
  phase: Phase
  /** True if the exchange is held on, until the restarted command waits for it, has looked, or has ended. */
  underWay?: true
  /** The command is not killed while it waits, but this many milliseconds of real time after it has been answered. */
  afterAnswer?: number
}

/** A kill of the command at an exchange, and the exchanges where it makes sense. */
export interface PlannedCrash extends PlannedHazard {
  rule: null
  kill: KillPoint
}

/** Milliseconds from the last answer to the kill. What lies between the two is up to the command: each is a sample, none a proof. */
const SAMPLED_MS = [0, 2, 10, 50]

/** @returns true at a transfer, and where a portfolio is made */
export const isWrite = ({ position: { operation } }: Place) =>
  TRANSFERS.includes(operation) || operation === 'create_portfolio'

/**
 * Every point at which a kill can make a difference. A kill after the answer to an exchange is the one at the next exchange; before and
 * after broadcast and after confirmation are one point, since a client that goes away changes nothing.
 */
export const CRASHES: readonly PlannedCrash[] = [
  {
    id: 'killed-under-way',
    title: 'killed, transfer under way',
    urgency: 'money',
    rule: null,
    kill: { phase: 'after_broadcast', underWay: true },
    fits: ({ transferred }) => transferred,
  },
  {
    id: 'killed-unanswered',
    title: 'killed, done and not answered',
    urgency: 'money',
    rule: null,
    kill: { phase: 'during_response' },
    fits: isWrite,
  },
  {
    id: 'killed-on-request',
    title: 'killed on request',
    urgency: 'retry',
    rule: null,
    kill: { phase: 'on_request' },
    fits: () => true,
  },
  ...SAMPLED_MS.map((afterAnswer): PlannedCrash => {
    return {
      id: `killed-${afterAnswer}ms-after-the-last-answer`,
      title: `killed ${afterAnswer} ms after the last answer, by chance`,
      urgency: 'rest',
      rule: null,
      kill: { phase: 'during_response', afterAnswer },
      fits: ({ last = false }) => last,
    }
  }),
]

/** @returns true if another run of the trial may end otherwise: the moment of the kill is chance */
export function isByChance({ id }: { id: string }): boolean {
  return CRASHES.some((crash) => crash.id === id && crash.kill.afterAnswer !== undefined)
}

/** The crash of that id; undefined for a fault. */
export function crashOf(id: string): PlannedCrash | undefined {
  return CRASHES.find((crash) => crash.id === id)
}
