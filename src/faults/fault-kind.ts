import type { Static, TSchema } from '@sinclair/typebox'
import type { SandboxClock } from '../domain/clock.ts'
import type { Exchange } from '../domain/exchange.ts'
import type { Chains } from '../domain/ports/chain.ts'
import type { SeededRandom } from '../domain/random.ts'
import type { TransferUnderWay } from '../domain/transfers.ts'
import type { Phase } from './phase.ts'

/** What a kind of fault works with when it strikes. */
export interface Strike<W = unknown> {
  exchange: Exchange
  /** The rule's parameters, sound and with nothing filled in. */
  with: W
  phase: Phase
  /** The transfer under way, in the phases of one. */
  transfer: TransferUnderWay | undefined
  /** Aborted when the rule is taken away or the sandbox is reset: what was broken is mended, what was held is let go. */
  released: AbortSignal
  clock: SandboxClock
  random: SeededRandom
  chains: Chains
}

/** A way to misbehave. One file per kind in `kinds/`, listed in `kinds/index.ts`. */
export interface FaultKind {
  kind: string
  /** Phases it can strike at; the first is the default. */
  phases: readonly [Phase, ...Phase[]]
  /** Schema of the rule's `with`. */
  with: TSchema
  /** Exchanges it makes sense for; others pass without counting as a match. */
  applies?(exchange: Exchange, parameters: unknown): boolean
  /** One sentence: what it does with these parameters. */
  explain(parameters: unknown): string
  /** Misbehaves: breaks the connection, holds it up, changes the answer, or throws a Problem to answer with. */
  strike(strike: Strike): void | Promise<void>
}

interface TypedKind<W extends TSchema> extends Omit<FaultKind, 'with' | 'applies' | 'explain' | 'strike'> {
  with: W
  applies?(exchange: Exchange, parameters: Static<W>): boolean
  explain(parameters: Static<W>): string
  strike(strike: Strike<Static<W>>): void | Promise<void>
}

/** Gives a kind's functions the types of its parameters: the engine validates a rule before it keeps it. */
export function defineKind<W extends TSchema>(kind: TypedKind<W>): FaultKind {
  return kind as FaultKind
}
