import type { Static, TSchema } from '@sinclair/typebox'
import type { SandboxClock } from '../domain/clock.ts'
import type { Exchange } from '../domain/exchange.ts'
import type { Operation } from '../domain/operations.ts'
import type { Chains } from '../domain/ports/chain.ts'
import type { Pool } from '../domain/records.ts'
import type { TransferUnderWay } from '../domain/transfers.ts'
import type { Issue } from '../support/issue.ts'
import type { Breakages } from './breakages.ts'
import type { Phase } from './phase.ts'

/** What a kind of fault is given when it strikes. */
export interface Strike<W = unknown> {
  /** The rule's id; {@link BROUGHT} for the fault a request brought along. */
  id: string
  exchange: Exchange
  /** The rule's parameters, sound and with their defaults filled in. */
  with: W
  phase: Phase
  /** The transfer under way, in the phases of one. */
  transfer: TransferUnderWay | undefined
  /** The pool the rule names, else that of the transfer. */
  pool: Pool | undefined
  /**
   * Aborted when the rule is taken away or the sandbox is reset: what was broken is mended, what was held is let go. The
   * fault a request brought along is taken away when that exchange is over.
   */
  released: AbortSignal
  clock: SandboxClock
  /** A number in [0, 1) that derives from the seed, from a stream of the rule's own. */
  draw(): number
  chains: Chains
  /** What the engine keeps broken until it is mended. */
  breakages: Breakages
}

/** Id of the fault that a request brought along in `X-Sandbox-Fault`: it is no rule in force, and not listed. */
export const BROUGHT = 'header'

/**
 * Whom a kind can harm: the exchange it strikes and the transfer of that exchange, or others too (`service`: the chain or
 * a pool stays broken, or blocks are replaced under everybody). A request may bring only the former along.
 */
export type FaultScope = 'exchange' | 'service'

/** One strike that goes on over later requests: they are struck as well, and not counted as further hits. */
export interface Course {
  /** Phase at which later requests are struck. */
  readonly phase: Phase
  /** True once it strikes nothing more. */
  readonly over: boolean
  /** Sees every request that arrives after the one it began with, in order. @returns true if that one is struck too. */
  takes(exchange: Exchange): boolean
}

/** A way to misbehave. One file per kind in `kinds/`, listed in `kinds/index.ts`. */
export interface FaultKind {
  kind: string
  scope: FaultScope
  /** Phases it can strike at; the first is the default. */
  phases: readonly [Phase, ...Phase[]]
  /** Operations it makes sense for: others pass without counting as a match, and a rule that names one is refused. */
  operations: readonly Operation[] | ((parameters: unknown) => readonly Operation[])
  /** Operations among these that it strikes only when the rule names them. */
  onlyNamed?: readonly Operation[]
  /** Schema of the rule's `with`. A parameter that has a default is not optional: it is filled in. */
  with: TSchema
  /** What is wrong with parameters that are sound one by one; its path is relative to `with`. */
  check?(parameters: unknown, phase: Phase): Issue | undefined
  /** Id of the pool that the parameters name: a rule that names one there is not is refused. */
  pool?(parameters: unknown): string | undefined
  /** Exchanges it makes sense for, beyond their operation; others pass without counting as a match. */
  applies?(exchange: Exchange, parameters: unknown): boolean
  /** One sentence: what it does with these parameters. */
  explain(parameters: unknown): string
  /** Follows a strike that goes on over later requests; left out, a strike is over with its exchange. */
  goesOn?(strike: Strike): Course
  /** Misbehaves: breaks the connection, holds it up, changes the answer, or throws a Problem to answer with. */
  strike(strike: Strike): void | Promise<void>
}

interface TypedKind<K extends string, W extends TSchema>
  extends Omit<
    FaultKind,
    'kind' | 'operations' | 'with' | 'check' | 'pool' | 'applies' | 'explain' | 'goesOn' | 'strike'
  > {
  kind: K
  operations: readonly Operation[] | ((parameters: Static<W>) => readonly Operation[])
  with: W
  check?(parameters: Static<W>, phase: Phase): Issue | undefined
  pool?(parameters: Static<W>): string | undefined
  applies?(exchange: Exchange, parameters: Static<W>): boolean
  explain(parameters: Static<W>): string
  goesOn?(strike: Strike<Static<W>>): Course
  strike(strike: Strike<Static<W>>): void | Promise<void>
}

/** A kind that says its name and the schema of its parameters in its type, too. */
export interface NamedKind<K extends string, W extends TSchema> extends FaultKind {
  kind: K
  with: W
}

/** Gives a kind's functions the types of its parameters: the engine validates a rule before it keeps it. */
export function defineKind<const K extends string, W extends TSchema>(kind: TypedKind<K, W>): NamedKind<K, W> {
  return kind as NamedKind<K, W>
}
