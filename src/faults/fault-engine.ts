import { type ErrorCode, Problem } from '../domain/errors.ts'
import type { Exchange } from '../domain/exchange.ts'
import type { SeededRandom } from '../domain/random.ts'
import { checkRule, type FaultRule, type SoundRule } from './fault-rule.ts'
import type { Phase } from './phase.ts'

/** A rule that is in force, as the control interface shows it. */
export interface ActiveFault extends FaultRule {
  id: string
  /** How often it has struck. */
  hits: number
  explanation: string
}

interface Entry {
  id: string
  rule: SoundRule
  shown: FaultRule
  matched: number
  hits: number
}

/** Keeps the rules and lets them strike. */
export class FaultEngine {
  #entries: Entry[] = []
  #added = 0
  readonly #random: SeededRandom

  constructor(random: SeededRandom) {
    this.#random = random
  }

  /** True when no rule is in force: nothing needs to be worked out for matching. */
  get idle(): boolean {
    return this.#entries.length === 0
  }

  /** Puts rules in force, all or none. Throws Problem validation_error naming each parameter at fault. */
  add(inputs: readonly unknown[], tenants: readonly string[]): ActiveFault[] {
    const checked = inputs.map((input) => checkRule(input, tenants))
    const errors = checked.flatMap((result, i) =>
      Array.isArray(result)
        ? result.map((one) => ({ ...one, param: inputs.length > 1 ? `${i}.${one.param}` : one.param }))
        : [],
    )
    const [first] = errors
    if (first) {
      const code: ErrorCode = 'validation_error'
      throw new Problem(code, { detail: `${first.param}: ${first.detail}.`, param: first.param, errors })
    }
    const entries = checked.flatMap((rule, i): Entry[] =>
      Array.isArray(rule)
        ? []
        : [{ id: `fault-${this.#added + i + 1}`, rule, shown: inputs[i] as FaultRule, matched: 0, hits: 0 }],
    )
    this.#added += entries.length
    this.#entries = [...this.#entries, ...entries]
    return entries.map(show)
  }

  list(): ActiveFault[] {
    return this.#entries.map(show)
  }

  /** Whether there was such a rule. */
  remove(id: string): boolean {
    const before = this.#entries.length
    this.#entries = this.#entries.filter((entry) => entry.id !== id)
    return this.#entries.length < before
  }

  clear(): void {
    this.#entries = []
    this.#added = 0
  }

  /** Lets the rules of this phase strike. Throws what a fault answers with: a Problem, or ExchangeEnded. */
  async at(phase: Phase, exchange: Exchange): Promise<void> {
    if (this.idle) return
    for (const entry of this.#entries) {
      if (entry.rule.phase !== phase || !fits(entry.rule, exchange) || !this.#strikes(entry)) continue
      entry.hits++
      await entry.rule.kind.strike(exchange, entry.rule.with, phase)
    }
  }

  #strikes(entry: Entry): boolean {
    const { skip, times, probability } = entry.rule
    if (entry.hits >= times) return false
    entry.matched++
    return entry.matched > skip && (probability === 1 || this.#random.next(`fault/${entry.id}`) < probability)
  }
}

function fits({ kind, match, with: parameters }: SoundRule, exchange: Exchange): boolean {
  return (
    (match.operation === undefined || match.operation === exchange.operation) &&
    (match.tenant === undefined || match.tenant === exchange.tenant) &&
    (match.external_id === undefined || match.external_id === exchange.external_id) &&
    (kind.applies?.(exchange, parameters) ?? true)
  )
}

function show({ id, shown, rule, hits }: Entry): ActiveFault {
  return { ...shown, id, phase: rule.phase, hits, explanation: rule.kind.explain(rule.with) }
}
