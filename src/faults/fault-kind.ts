import type { Static, TSchema } from '@sinclair/typebox'
import type { Exchange } from '../domain/exchange.ts'
import type { Phase } from './phase.ts'

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
  /** Misbehaves: breaks the connection, or throws a Problem to answer with. */
  strike(exchange: Exchange, parameters: unknown, phase: Phase): void | Promise<void>
}

interface TypedKind<W extends TSchema> extends Omit<FaultKind, 'with' | 'applies' | 'explain' | 'strike'> {
  with: W
  applies?(exchange: Exchange, parameters: Static<W>): boolean
  explain(parameters: Static<W>): string
  strike(exchange: Exchange, parameters: Static<W>, phase: Phase): void | Promise<void>
}

/** Gives a kind's functions the types of its parameters: the engine validates a rule before it keeps it. */
export function defineKind<W extends TSchema>(kind: TypedKind<W>): FaultKind {
  return kind as FaultKind
}
