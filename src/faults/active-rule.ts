import type { Exchange } from '../domain/exchange.ts'
import type { Operation } from '../domain/operations.ts'
import { abortController } from '../support/waiting.ts'
import type { RequestNumbers } from './counters.ts'
import type { CheckedRule, FaultRule } from './fault-rule.ts'
import { MOMENTS, PHASES, type Phase } from './phase.ts'
import type { OngoingStrike } from './strike.ts'

/** A rule in force, as the control interface shows it. */
export type ActiveFault = FaultRule & {
  id: string
  /** How often it has struck. */
  hits: number
  explanation: string
}

/** What a rule would be if it were in force. */
export type FaultPreview = FaultRule & {
  explanation: string
  /** Operations that it could strike. */
  operations: Operation[]
}

/** A checked rule without being put in force; `written` is the rule as its author wrote it. */
export function previewOf(rule: CheckedRule, written: FaultRule): FaultPreview {
  return { ...shownRule(rule, written), operations: [...rule.operations] }
}

/** A rule as its author wrote it, with what was left out and is worth knowing. */
function shownRule(rule: CheckedRule, written: FaultRule) {
  const times = rule.times === Number.POSITIVE_INFINITY ? ('always' as const) : rule.times
  return { ...written, phase: rule.phase, times, explanation: explanationOf(rule) }
}

function explanationOf({ kind, phase, with: parameters }: CheckedRule): string {
  return kind.explain(parameters, MOMENTS[phase])
}

/** Values that a rule asks the engine for. */
export interface RuleSources {
  /** Returns a number in [0, 1), from a stream of the rule's own. */
  draw(): number
  /** Counts the attempts of the exchange's operation that were struck in a row, without this one. */
  struckInARow(exchange: Exchange): number
}

/** A rule in force, with its count of strikes. */
export class ActiveRule {
  hits = 0
  /** Aborted when the rule is cleared, one by one or with all others. */
  readonly released = abortController()
  readonly id: string
  readonly rule: CheckedRule
  /** Null for a rule of this process alone, which is not shown. */
  readonly #written: FaultRule | null
  readonly #sources: RuleSources
  readonly #drawn = new WeakMap<Exchange, boolean>()
  #matched = 0
  #ongoing: OngoingStrike[] = []
  /** Exchanges that an ongoing strike hits as well, each with its phase. */
  readonly #alsoStruck = new WeakMap<Exchange, Phase>()

  constructor(id: string, rule: CheckedRule, written: FaultRule | null, sources: RuleSources) {
    this.id = id
    this.rule = rule
    this.#written = written
    this.#sources = sources
  }

  /** Shows an exchange that has just arrived to the ongoing strikes. */
  notice(exchange: Exchange): void {
    for (const strike of this.#ongoing) if (strike.takes(exchange)) this.#alsoStruck.set(exchange, strike.phase)
    this.#ongoing = this.#ongoing.filter(({ over }) => !over)
  }

  /** Counts a strike, unless it belongs to an ongoing one. `begin` returns the strike as an ongoing one if its kind goes on. */
  strikes(exchange: Exchange, begin: () => OngoingStrike | undefined): void {
    if (this.#alsoStruck.has(exchange)) return
    this.hits++
    const begun = begin()
    if (begun) this.#ongoing.push(begun)
  }

  /** Phase at which it would strike an exchange. */
  phaseFor(exchange: Exchange): Phase {
    return this.#alsoStruck.get(exchange) ?? this.rule.phase
  }

  /** Index of that phase in {@link PHASES}. */
  dueFor(exchange: Exchange): number {
    return PHASES.indexOf(this.phaseFor(exchange))
  }

  /** @returns true if it is going to strike the exchange, as far as is known before its phase comes. Counts nothing. */
  willStrike(exchange: Exchange, numbers?: RequestNumbers): boolean {
    if (this.#alsoStruck.has(exchange)) return true
    return this.#matched >= this.rule.skip && this.#fits(exchange, numbers) && this.#chanceOf(exchange)
  }

  /** Counts an exchange in which its phase has come. @returns true if it strikes the exchange */
  takes(exchange: Exchange, numbers?: RequestNumbers): boolean {
    if (this.#alsoStruck.has(exchange)) return true
    if (!this.#fits(exchange, numbers)) return false
    this.#matched++
    return this.#matched > this.rule.skip && this.#chanceOf(exchange)
  }

  /** @returns true if its match needs the numbers of requests */
  get needsNumbers(): boolean {
    const { end_user, ordinal } = this.rule.match
    return end_user !== undefined || ordinal !== undefined
  }

  /** @returns true if it limits the attempts of an operation that are struck in a row */
  get limitsRow(): boolean {
    return this.rule.in_a_row !== Number.POSITIVE_INFINITY
  }

  /** @returns true if the kind makes sense for the exchange, beyond its operation */
  applies(exchange: Exchange): boolean {
    const { kind, with: parameters } = this.rule
    return kind.applies?.(exchange, parameters) ?? true
  }

  get explanation(): string {
    return explanationOf(this.rule)
  }

  show(): ActiveFault | undefined {
    const { id, hits } = this
    return this.#written === null ? undefined : { ...shownRule(this.rule, this.#written), id, hits }
  }

  #fits(exchange: Exchange, numbers: RequestNumbers | undefined): boolean {
    const { operations, match, times, in_a_row } = this.rule
    return (
      this.hits < times &&
      operations.has(exchange.operation) &&
      (match.tenant === undefined || match.tenant === exchange.tenant) &&
      (match.external_id === undefined || match.external_id === exchange.external_id) &&
      (match.end_user === undefined || match.end_user === numbers?.end_user) &&
      (match.ordinal === undefined || match.ordinal === numbers?.ordinal) &&
      this.#sources.struckInARow(exchange) < in_a_row &&
      this.applies(exchange)
    )
  }

  /** Drawn once for an exchange, however often it is asked for. */
  #chanceOf(exchange: Exchange): boolean {
    const { probability } = this.rule
    if (probability === 1) return true
    const drawn = this.#drawn.get(exchange) ?? this.#sources.draw() < probability
    this.#drawn.set(exchange, drawn)
    return drawn
  }
}
