import type { Exchange } from '../domain/exchange.ts'
import { abortController } from '../support/abort-controller.ts'
import type { Appearance } from './appearances.ts'
import type { FaultRule, SoundRule } from './fault-rule.ts'
import { PHASES } from './phase.ts'

/** A rule that is in force, as the control interface shows it. */
export type ActiveFault = FaultRule & {
  id: string
  /** How often it has struck. */
  hits: number
  explanation: string
}

/** What a rule asks of the engine that keeps it. */
export interface RuleMeans {
  /** A number in [0, 1), from a stream of its own. */
  draw(): number
  /** How many attempts of the exchange's operation were struck in a row, this one left out. */
  struckInARow(exchange: Exchange): number
}

/** A rule, and what it has done since it was put in force. */
export class RuleInForce {
  hits = 0
  /** Aborted when it is taken away, by whomever. */
  readonly released = abortController()
  readonly id: string
  readonly rule: SoundRule
  /** When its phase comes in the life of a request: 0 is first. */
  readonly due: number
  readonly #written: FaultRule
  readonly #means: RuleMeans
  readonly #drawn = new WeakMap<Exchange, boolean>()
  #matched = 0

  constructor(id: string, rule: SoundRule, written: FaultRule, means: RuleMeans) {
    this.id = id
    this.rule = rule
    this.due = PHASES.indexOf(rule.phase)
    this.#written = written
    this.#means = means
  }

  /** @returns true if it is going to strike the exchange, as far as is known before its phase comes. Counts nothing. */
  willStrike(exchange: Exchange, place?: Appearance): boolean {
    return this.#matched >= this.rule.skip && this.#fits(exchange, place) && this.#chanceOf(exchange)
  }

  /** Counts an exchange in which its phase has come. @returns true if it strikes it. */
  takes(exchange: Exchange, place?: Appearance): boolean {
    if (!this.#fits(exchange, place)) return false
    this.#matched++
    return this.#matched > this.rule.skip && this.#chanceOf(exchange)
  }

  /** Whether it asks for the how-manyth request or end user it is. */
  get counts(): boolean {
    const { end_user, ordinal } = this.rule.match
    return end_user !== undefined || ordinal !== undefined
  }

  /** @returns true if it asks how many attempts of an operation were struck in a row. */
  get sparing(): boolean {
    return this.rule.in_a_row !== Number.POSITIVE_INFINITY
  }

  /** @returns true if the kind makes sense for the exchange, beyond its operation. */
  applies(exchange: Exchange): boolean {
    const { kind, with: parameters } = this.rule
    return kind.applies?.(exchange, parameters) ?? true
  }

  get explanation(): string {
    const { kind, with: parameters } = this.rule
    return kind.explain(parameters)
  }

  show(): ActiveFault {
    const { id, rule, hits, explanation } = this
    return { ...this.#written, id, phase: rule.phase, hits, explanation }
  }

  #fits(exchange: Exchange, place: Appearance | undefined): boolean {
    const { operations, match, times, in_a_row } = this.rule
    return (
      this.hits < times &&
      operations.has(exchange.operation) &&
      (match.tenant === undefined || match.tenant === exchange.tenant) &&
      (match.external_id === undefined || match.external_id === exchange.external_id) &&
      (match.end_user === undefined || match.end_user === place?.end_user) &&
      (match.ordinal === undefined || match.ordinal === place?.ordinal) &&
      this.#means.struckInARow(exchange) < in_a_row &&
      this.applies(exchange)
    )
  }

  /** Drawn once for an exchange, however often it is asked for. */
  #chanceOf(exchange: Exchange): boolean {
    const { probability } = this.rule
    if (probability === 1) return true
    const drawn = this.#drawn.get(exchange) ?? this.#means.draw() < probability
    this.#drawn.set(exchange, drawn)
    return drawn
  }
}
