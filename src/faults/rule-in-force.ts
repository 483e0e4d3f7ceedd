import type { Exchange } from '../domain/exchange.ts'
import { abortController } from '../support/waiting.ts'
import type { Appearance } from './appearances.ts'
import type { Course } from './fault-kind.ts'
import type { FaultRule, SoundRule } from './fault-rule.ts'
import { PHASES, type Phase } from './phase.ts'

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
  readonly #written: FaultRule
  readonly #means: RuleMeans
  readonly #drawn = new WeakMap<Exchange, boolean>()
  #matched = 0
  /** Strikes of it that go on. */
  #courses: Course[] = []
  /** Exchanges that a strike which goes on hits as well, and when. */
  readonly #goesOn = new WeakMap<Exchange, Phase>()

  constructor(id: string, rule: SoundRule, written: FaultRule, means: RuleMeans) {
    this.id = id
    this.rule = rule
    this.#written = written
    this.#means = means
  }

  /** Lets the strikes that go on see an exchange that has just arrived. */
  notice(exchange: Exchange): void {
    for (const course of this.#courses) if (course.takes(exchange)) this.#goesOn.set(exchange, course.phase)
    this.#courses = this.#courses.filter(({ over }) => !over)
  }

  /** Counts a strike, unless it belongs to one that goes on. `course` follows a new one, where its kind goes on. */
  strikes(exchange: Exchange, course: () => Course | undefined): void {
    if (this.#goesOn.has(exchange)) return
    this.hits++
    const begun = course()
    if (begun) this.#courses.push(begun)
  }

  /** Phase at which it would strike an exchange. */
  phaseFor(exchange: Exchange): Phase {
    return this.#goesOn.get(exchange) ?? this.rule.phase
  }

  /** When that phase comes in the life of a request: 0 is first. */
  dueFor(exchange: Exchange): number {
    return PHASES.indexOf(this.phaseFor(exchange))
  }

  /** @returns true if it is going to strike the exchange, as far as is known before its phase comes. Counts nothing. */
  willStrike(exchange: Exchange, place?: Appearance): boolean {
    if (this.#goesOn.has(exchange)) return true
    return this.#matched >= this.rule.skip && this.#fits(exchange, place) && this.#chanceOf(exchange)
  }

  /** Counts an exchange in which its phase has come. @returns true if it strikes it. */
  takes(exchange: Exchange, place?: Appearance): boolean {
    if (this.#goesOn.has(exchange)) return true
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
