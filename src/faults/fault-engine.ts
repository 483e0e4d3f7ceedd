import { abortController } from '../domain/abort-controller.ts'
import type { SandboxClock } from '../domain/clock.ts'
import { invalidParameters, type ParameterFault, Problem } from '../domain/errors.ts'
import type { Exchange } from '../domain/exchange.ts'
import type { Chains } from '../domain/ports/chain.ts'
import type { Logger } from '../domain/ports/logger.ts'
import type { SeededRandom } from '../domain/random.ts'
import type { Pool } from '../domain/records.ts'
import type { TransferUnderWay } from '../domain/transfers.ts'
import { Breakages } from './breakages.ts'
import { parseFaultHeader } from './fault-header.ts'
import type { Strike } from './fault-kind.ts'
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
  released: AbortController
}

/** What the engine works with. */
export interface EngineParts {
  clock: SandboxClock
  random: SeededRandom
  chains: Chains
  /** Pools that rules can name. */
  pools: readonly Pool[]
  log: Logger
}

/** Every request is held against every rule. */
const MAX_RULES = 1000

/** Keeps the rules and lets them strike. */
export class FaultEngine {
  #entries: Entry[] = []
  #added = 0
  /** Rules that single requests brought along in their header. */
  readonly #own = new WeakMap<Exchange, Entry>()
  /** Aborted by {@link FaultEngine.clear}, for the rules that nobody can remove one by one. */
  #cleared = abortController()
  readonly #parts: EngineParts
  readonly #poolIds: readonly string[]
  readonly #breakages: Breakages

  constructor(parts: EngineParts) {
    this.#parts = parts
    this.#poolIds = [...new Set(parts.pools.map(({ pool_id }) => pool_id))]
    this.#breakages = new Breakages(parts.log)
  }

  /** Whether any rule could strike this exchange: if not, nothing needs to be worked out for matching. */
  concerns(exchange: Exchange): boolean {
    return this.#entries.length > 0 || this.#own.has(exchange)
  }

  /** Puts rules in force, all or none. Throws Problem validation_error naming each parameter at fault. */
  add(inputs: readonly unknown[], tenants: readonly string[]): ActiveFault[] {
    if (this.#entries.length + inputs.length > MAX_RULES) {
      const detail = `At most ${MAX_RULES} faults can be kept, those that have struck included; clear some first.`
      throw new Problem('validation_error', { detail, param: 'body' })
    }
    const checked = inputs.map((input) => checkRule(input, tenants, this.#poolIds))
    refuse(checked.flatMap((result, i) => faultsOf(result, inputs.length > 1 ? `${i}.` : '')))
    const entries = checked.flatMap((rule, i) =>
      Array.isArray(rule) ? [] : [entryOf(`fault-${this.#added + i + 1}`, rule, inputs[i] as FaultRule)],
    )
    this.#added += entries.length
    this.#entries = [...this.#entries, ...entries]
    return entries.map(show)
  }

  /** A rule for this exchange alone, from its `X-Sandbox-Fault` header. Throws Problem validation_error. */
  bring(header: string, exchange: Exchange): void {
    const input = { ...parseFaultHeader(header), match: { operation: exchange.operation } }
    const rule = checkRule(input, [], this.#poolIds)
    refuse(inHeader(rule))
    if (Array.isArray(rule)) return
    if (!applies(rule, exchange))
      refuse(inHeader([{ param: 'kind', detail: `${rule.kind.kind} cannot strike this request` }]))
    this.#own.set(exchange, entryOf('header', rule, input as FaultRule, this.#cleared))
  }

  list(): ActiveFault[] {
    return this.#entries.map(show)
  }

  /** Takes a rule out of force. Whether there was such a rule. */
  remove(id: string): boolean {
    const entry = this.#entries.find((candidate) => candidate.id === id)
    this.#entries = this.#entries.filter((candidate) => candidate !== entry)
    entry?.released.abort()
    return entry !== undefined
  }

  /** Takes every rule out of force and counts ids from the beginning again: the same requests get the same run. */
  reset(): void {
    this.clear()
    this.#added = 0
  }

  /** Takes every rule out of force. No id comes a second time, so that whoever kept one does not hit another rule. */
  clear(): void {
    const gone = [...this.#entries.map(({ released }) => released), this.#cleared]
    this.#entries = []
    this.#cleared = abortController()
    for (const released of gone) released.abort()
  }

  /** Resolves when everything that rules taken out of force had broken is mended. */
  mended(): Promise<void> {
    return this.#breakages.mended()
  }

  /** Lets the rules of this phase strike. Throws what a fault answers with: a Problem, or ExchangeEnded. */
  async at(phase: Phase, exchange: Exchange, transfer?: TransferUnderWay): Promise<void> {
    if (!this.concerns(exchange)) return
    const own = this.#own.get(exchange)
    for (const entry of own ? [...this.#entries, own] : this.#entries) {
      const { rule } = entry
      if (rule.phase !== phase || !fits(rule, exchange) || !this.#strikes(entry)) continue
      entry.hits++
      await rule.kind.strike(this.#strikeOf(entry, exchange, transfer))
    }
  }

  #strikeOf({ id, rule, released }: Entry, exchange: Exchange, transfer: TransferUnderWay | undefined): Strike {
    const { clock, random, chains, pools } = this.#parts
    const named = rule.kind.pool?.(rule.with)
    return {
      exchange,
      with: rule.with,
      phase: rule.phase,
      transfer,
      pool: named === undefined ? transfer?.pool : pools.find(({ pool_id }) => pool_id === named),
      released: released.signal,
      clock,
      draw: () => random.next(`fault/${id}/strike`),
      chains,
      breakages: this.#breakages,
    }
  }

  #strikes(entry: Entry): boolean {
    const { skip, times, probability } = entry.rule
    if (entry.hits >= times) return false
    entry.matched++
    return entry.matched > skip && (probability === 1 || this.#parts.random.next(`fault/${entry.id}`) < probability)
  }
}

function entryOf(id: string, rule: SoundRule, shown: FaultRule, released = abortController()): Entry {
  return { id, rule, shown, matched: 0, hits: 0, released }
}

function faultsOf(result: SoundRule | ParameterFault[], prefix: string): ParameterFault[] {
  return Array.isArray(result) ? result.map((one) => ({ ...one, param: `${prefix}${one.param}` })) : []
}

/** The header is one parameter, and its match the request itself; what is wrong within it goes into the words. */
function inHeader(result: SoundRule | ParameterFault[]): ParameterFault[] {
  if (!Array.isArray(result)) return []
  return result.map(({ param, detail }) => {
    const name = param === 'match.operation' ? 'kind' : param.replace(/^with\./, '')
    return { param: 'X-Sandbox-Fault', detail: `${name}: ${detail}` }
  })
}

function refuse(errors: ParameterFault[]): void {
  if (errors.length > 0) throw invalidParameters(errors, ({ param, detail }) => `${param}: ${detail}.`)
}

function fits(rule: SoundRule, exchange: Exchange): boolean {
  const { operations, match } = rule
  return (
    operations.has(exchange.operation) &&
    (match.tenant === undefined || match.tenant === exchange.tenant) &&
    (match.external_id === undefined || match.external_id === exchange.external_id) &&
    applies(rule, exchange)
  )
}

function applies({ kind, with: parameters }: SoundRule, exchange: Exchange): boolean {
  return kind.applies?.(exchange, parameters) ?? true
}

function show({ id, shown, rule, hits }: Entry): ActiveFault {
  return { ...shown, id, phase: rule.phase, hits, explanation: rule.kind.explain(rule.with) }
}
