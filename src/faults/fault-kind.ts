import type { Static, TSchema } from '@sinclair/typebox'
import type { Exchange } from '../domain/exchange.ts'
import type { Operation } from '../domain/operations.ts'
import type { Issue } from '../support/issue.ts'
import type { Phase } from './phase.ts'
import type { OngoingStrike, Strike } from './strike.ts'

/**
 * Reach of a kind. `exchange`: it affects only the exchange it strikes and the transfer of that exchange. `service`: it affects
 * others too (a chain or a pool stays broken, blocks are replaced for everybody). A request may bring only the former.
 */
export type FaultScope = 'exchange' | 'service'

/** Parts of a list of all kinds. */
export type FaultGroup = 'connection' | 'answer' | 'chain' | 'tokens' | 'lists'

/** A way to misbehave. One file per kind in `kinds/`, listed in `kinds/index.ts`. */
export interface FaultKind {
  kind: string
  scope: FaultScope
  /** Where it belongs in a list. */
  group: FaultGroup
  /** Phases it can strike at; the first is the default. */
  phases: readonly [Phase, ...Phase[]]
  /** Operations it makes sense for: others pass without counting as a match, and a rule that names one is refused. */
  operations: readonly Operation[] | ((parameters: unknown) => readonly Operation[])
  /** Operations among these that it strikes only when the rule names them. */
  onlyNamed?: readonly Operation[]
  /**
   * Schema of the rule's `with`. A parameter that has a default is not optional: the default is filled in. Where the defaults alone are no
   * valid `with`, the first of its `examples` is.
   */
  with: TSchema
  /** Finds a contradiction between parameters that are valid one by one. The path of the issue is relative to `with`. */
  check?(parameters: unknown, phase: Phase): Issue | undefined
  /** Returns the id of the pool that the parameters name. A rule that names an unknown pool is refused. */
  pool?(parameters: unknown): string | undefined
  /** @returns true if it makes sense for the exchange, beyond its operation; others pass without counting as a match */
  applies?(exchange: Exchange, parameters: unknown): boolean
  /** Describes in one sentence how it misbehaves with these parameters, and `when`, which is one of MOMENTS. */
  explain(parameters: unknown, when: string): string
  /** Begins a strike that goes on over later requests. A kind without it strikes one exchange at a time. */
  goesOn?(strike: Strike): OngoingStrike
  /** Misbehaves: breaks the connection, delays it, changes the answer, or throws a Problem to answer with. */
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
  explain(parameters: Static<W>, when: string): string
  goesOn?(strike: Strike<Static<W>>): OngoingStrike
  strike(strike: Strike<Static<W>>): void | Promise<void>
}

/** A kind whose type also has its name and the schema of its parameters. */
export interface NamedKind<K extends string, W extends TSchema> extends FaultKind {
  kind: K
  with: W
}

/** Gives a kind's functions the types of its parameters: the engine validates a rule before it keeps it. */
export function defineKind<const K extends string, W extends TSchema>(kind: TypedKind<K, W>): NamedKind<K, W> {
  return kind as NamedKind<K, W>
}

/** Schemas of the parameters of some kinds, by the kinds' names. */
export function parametersOf<const Kinds extends readonly NamedKind<string, TSchema>[]>(
  kinds: Kinds,
): { [Kind in Kinds[number] as Kind['kind']]: Kind['with'] } {
  return Object.fromEntries(kinds.map((kind) => [kind.kind, kind.with])) as ReturnType<typeof parametersOf<Kinds>>
}
