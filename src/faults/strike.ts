import type { SandboxClock } from '../domain/clock.ts'
import type { Exchange } from '../domain/exchange.ts'
import type { Chains } from '../domain/ports/chain.ts'
import type { Pool } from '../domain/records.ts'
import type { TransferUnderWay } from '../domain/transfers.ts'
import { parseDurationRange } from '../support/quantities.ts'
import { aborted } from '../support/waiting.ts'
import type { Phase } from './phase.ts'
import type { Repairs } from './repairs.ts'

/**
 * One rule that hits one request.
 *
 * ```
 *   FaultRule            as it is written
 *      │ checkRule()     refused, or checked and with its defaults
 *      ▼
 *   ActiveRule           in force: match, skip, times, probability
 *      │ FaultEngine.at(phase, exchange)
 *      ▼
 *   Strike ───────────── kind.strike(): ends, delays or changes the exchange
 *      │ Repairs.owe()   some kinds break a pool or a chain as well
 *      ▼
 *   Repair               owed until the rule is cleared or its time is over, then done
 * ```
 */
export interface Strike<W = unknown> {
  /** Id of the rule; {@link FROM_HEADER} for the fault of a request's own header. */
  id: string
  exchange: Exchange
  /** Parameters of the rule, checked and with their defaults. */
  with: W
  phase: Phase
  /** Set in the phases of a transfer. */
  transfer: TransferUnderWay | undefined
  /** The pool that the rule names, else the pool of the transfer. */
  pool: Pool | undefined
  /**
   * Aborted when the rule is cleared or the sandbox is reset: the kind lets go of what it holds, and repairs begin. A fault of
   * the request's own header is cleared when its exchange is over.
   */
  released: AbortSignal
  clock: SandboxClock
  /** Returns a number in [0, 1) that derives from the seed, from a stream of the rule's own. */
  draw(): number
  chains: Chains
  repairs: Repairs
}

/** Id of a fault that a request brought in `X-Sandbox-Fault`. Such a fault is not listed. */
export const FROM_HEADER = 'header'

/** A strike that goes on: later requests are struck as well, and do not count as further hits. */
export interface OngoingStrike {
  /** Phase at which later requests are struck. */
  readonly phase: Phase
  /** True once it strikes no further request. */
  readonly over: boolean
  /** Receives every request that arrives after the first one, in order. @returns true if that request is struck too */
  takes(exchange: Exchange): boolean
}

/**
 * Waits on the sandbox clock, for a duration or one drawn from a range. Ends early when the rule is cleared or any of the
 * given signals is aborted.
 */
export async function wait(duration: string, { clock, draw, released }: Strike, ...ends: AbortSignal[]): Promise<void> {
  const { min, max } = parseDurationRange(duration)
  const signals = [released, ...ends]
  try {
    await clock.sleep(min === max ? min : min + draw() * (max - min), ...signals)
  } catch (error) {
    if (!signals.some(({ aborted }) => aborted)) throw error
  }
}

/** Waits until the rule is cleared. */
export function waitForRelease({ released }: Pick<Strike, 'released'>): Promise<void> {
  return aborted(released)
}
