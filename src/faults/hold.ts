import { Type } from '@sinclair/typebox'
import { type Exchange, ExchangeEnded } from '../domain/exchange.ts'
import { OPERATIONS } from '../domain/operations.ts'
import { defineKind, type FaultKind } from './fault-kind.ts'
import type { CheckedRule } from './fault-rule.ts'
import { PHASES, type Phase } from './phase.ts'
import { waitForRelease } from './strike.ts'

/** An exchange to hold: the first that fits. */
export interface HoldWish {
  phase: Phase
  match: CheckedRule['match'] & Required<Pick<CheckedRule['match'], 'operation'>>
  /** @returns true if the exchange may be held, beyond the match; default: any */
  applies?(exchange: Exchange): boolean
}

/** An exchange that is held, or is going to be. */
export interface Held {
  /** Resolves when an exchange is held; never, if none comes. */
  readonly sprung: Promise<Exchange>
  /** Lets it go on, or holds none if none has come. May be called again. */
  release(): void
}

/**
 * The kind of rule that holds an exchange until it is released. It is not among the kinds that people can ask for: only a caller in this
 * process knows at once that the exchange is held. `held` is called then.
 */
export function holdKind({ applies = () => true }: HoldWish, held: (exchange: Exchange) => void): FaultKind {
  return defineKind({
    kind: 'hold',
    scope: 'exchange',
    group: 'connection',
    phases: PHASES,
    operations: OPERATIONS,
    with: Type.Object({}),
    applies,
    explain: (_, when) => `The exchange is held ${when}.`,
    async strike(strike) {
      const { exchange, phase } = strike
      held(exchange)
      await waitForRelease(strike)
      // The client has gone before anything was done, so the request does not happen.
      if (phase === 'on_request' && exchange.over.aborted) throw new ExchangeEnded()
    },
  })
}
