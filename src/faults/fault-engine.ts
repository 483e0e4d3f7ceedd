import type { SandboxClock } from '../domain/clock.ts'
import { invalidParameters, type ParameterFault, Problem, parameterFault } from '../domain/errors.ts'
import type { Exchange } from '../domain/exchange.ts'
import type { Chains } from '../domain/ports/chain.ts'
import type { Pool } from '../domain/records.ts'
import type { TransferUnderWay } from '../domain/transfers.ts'
import { formatPath, type Issue, type Path, wordsOf } from '../support/issue.ts'
import type { Logger } from '../support/logger.ts'
import type { SeededRandom } from '../support/random.ts'
import { inTime } from '../support/waiting.ts'
import { Appearances, StrikesInARow } from './appearances.ts'
import { Breakages } from './breakages.ts'
import { parseFaultHeader } from './fault-header.ts'
import { BROUGHT, type FaultKind, type Strike } from './fault-kind.ts'
import { checkRule, type FaultRule, type RulePools, type SoundRule } from './fault-rule.ts'
import { KINDS } from './kinds/index.ts'
import { PHASES, type Phase } from './phase.ts'
import { type ActiveFault, RuleInForce } from './rule-in-force.ts'

/** Every request is held against every rule. */
const MAX_RULES = 1000
/** Milliseconds that whoever takes faults away waits until all is mended. Clients count five seconds as a hang. */
const MENDING_TIME = 3_000

/** Keeps the rules and lets them strike: one exchange is struck by one rule at most, the first added of those that fit. */
export class FaultEngine {
  #rules: RuleInForce[] = []
  #added = 0
  /** Undefined while no rule asks for it. */
  #appearances: Appearances | undefined
  /** Undefined while no rule asks for it. */
  #strikesInARow: StrikesInARow | undefined
  /** Faults that single requests brought along in their header. */
  readonly #brought = new WeakMap<Exchange, RuleInForce>()
  /** Those whose exchange is not over. */
  readonly #present = new Set<Exchange>()
  readonly #deps: EngineDeps
  readonly #pools: RulePools
  readonly #breakages: Breakages

  constructor(deps: EngineDeps) {
    this.#deps = deps
    const idsOf = (pools: readonly Pool[]) => [...new Set(pools.map(({ pool_id }) => pool_id))]
    const forked = deps.pools.filter(({ chain_id }) => deps.forks.includes(chain_id))
    this.#pools = { ids: idsOf(deps.pools), forked: idsOf(forked) }
    this.#breakages = new Breakages(deps)
  }

  /** @returns true if any rule could strike this exchange. If not, nothing needs to be worked out for matching. */
  concerns(exchange: Exchange): boolean {
    return this.#rules.length > 0 || this.#brought.has(exchange)
  }

  /**
   * Puts rules in force, all or none. Throws Problem validation_error naming each parameter at fault; `pathOf` says where in
   * what was given the rule of this index stands.
   */
  add(
    inputs: readonly unknown[],
    tenants: readonly string[],
    pathOf: (index: number) => Path = (i) => (inputs.length > 1 ? [i] : []),
  ): ActiveFault[] {
    if (this.#rules.length + inputs.length > MAX_RULES) {
      const detail = `At most ${MAX_RULES} faults can be kept, those that have struck included; clear some first.`
      throw new Problem('validation_error', { detail, param: 'body' })
    }
    const checked = inputs.map((input) => checkRule(input, tenants, this.#pools))
    refuse(checked.flatMap((result, i) => issuesIn(result, pathOf(i))))
    const rules = checked.flatMap((rule, i) =>
      Array.isArray(rule) ? [] : [this.#inForce(`fault-${this.#added + i + 1}`, rule, inputs[i] as FaultRule)],
    )
    this.#added += rules.length
    this.#rules = [...this.#rules, ...rules]
    this.#countOrNot()
    return rules.map((rule) => rule.show())
  }

  /**
   * A fault for this exchange alone, from its `X-Sandbox-Fault` header. It goes before the rules in force, and is taken away
   * when the exchange is over. Throws Problem validation_error.
   */
  bring(header: string, exchange: Exchange): void {
    const parsed = parseFaultHeader(header)
    refuse(beyondExchange(parsed.kind), inHeader)
    const input = { ...parsed, match: { operation: exchange.operation } }
    const rule = checkRule(input, [], this.#pools)
    if (Array.isArray(rule)) {
      refuse(rule, inHeader)
      return
    }
    const brought = this.#inForce(BROUGHT, rule, input as FaultRule)
    if (!brought.applies(exchange))
      refuse([{ path: ['kind'], message: `${rule.kind.kind} cannot strike this request` }], inHeader)
    this.#brought.set(exchange, brought)
    this.#present.add(exchange)
    const over = () => {
      this.#present.delete(exchange)
      brought.released.abort()
    }
    exchange.over.addEventListener('abort', over, { once: true })
    if (exchange.over.aborted) over()
  }

  list(): ActiveFault[] {
    return this.#rules.map((rule) => rule.show())
  }

  /** Rules in force by their ids; each still says how often it has struck when it is out of force. */
  rulesOf(ids: ReadonlySet<string>): RuleInForce[] {
    return this.#rules.filter(({ id }) => ids.has(id))
  }

  /** Takes a rule out of force. @returns true if there was such a rule. */
  remove(id: string): boolean {
    const rule = this.#rules.find((candidate) => candidate.id === id)
    this.#rules = this.#rules.filter((candidate) => candidate !== rule)
    this.#countOrNot()
    rule?.released.abort()
    return rule !== undefined
  }

  /**
   * Takes every rule out of force and counts ids from the beginning again: the same requests get the same run. What they broke
   * is left to the reset of the chains.
   */
  reset(): void {
    this.#breakages.abandon()
    this.clear()
    this.#added = 0
  }

  /** Takes every rule out of force. No id comes a second time, so that whoever kept one does not hit another rule. */
  clear(): void {
    const brought = [...this.#present].flatMap((exchange) => this.#brought.get(exchange) ?? [])
    for (const exchange of this.#present) this.#brought.delete(exchange)
    this.#present.clear()
    const gone = [...this.#rules, ...brought]
    this.#rules = []
    this.#countOrNot()
    for (const { released } of gone) released.abort()
  }

  /**
   * Resolves when everything that rules taken out of force had broken is mended. Throws Problem chain_unavailable if that takes
   * longer than a client waits: it goes on.
   */
  async mended(): Promise<void> {
    const { clock } = this.#deps
    await inTime(this.#breakages.mended(), clock.wallSleep(MENDING_TIME), () => {
      const what = this.#breakages.underWay.join('; ')
      const detail = `Out of force; what was broken is mended as soon as the chain lets it: ${what}.`
      return new Problem('chain_unavailable', { detail })
    })
  }

  /** Mends nothing any more. */
  abandon(): void {
    this.#breakages.abandon()
  }

  /**
   * Lets a rule of this phase strike, unless another one has struck the exchange or is going to. Throws what a fault answers
   * with: a Problem, or ExchangeEnded.
   */
  async at(phase: Phase, exchange: Exchange, transfer?: TransferUnderWay): Promise<void> {
    if (phase === 'on_request') {
      this.#appearances?.note(exchange)
      for (const rule of this.#rules) rule.notice(exchange)
    }
    if (exchange.struckBy || !this.concerns(exchange)) return
    const striking = this.#next(phase, exchange)
    if (!striking) {
      if (phase === 'during_response') this.#strikesInARow?.end(exchange)
      return
    }
    const { id, rule, explanation } = striking
    const strike = this.#strikeOf(striking, exchange, transfer)
    striking.strikes(exchange, () => rule.kind.goesOn?.(strike))
    this.#strikesInARow?.add(exchange)
    exchange.struckBy = { id, kind: rule.kind.kind, phase, explanation }
    if (phase === 'on_request') await exchange.readBody()
    try {
      await rule.kind.strike(strike)
    } catch (error) {
      // It is what the fault asks for, whatever its code says.
      if (error instanceof Problem) error.details.check ??= 'fault'
      throw error
    }
  }

  /** The first rule that strikes the exchange, if its phase is this one. An earlier rule whose phase is still to come goes before it. */
  #next(phase: Phase, exchange: Exchange): RuleInForce | undefined {
    const now = PHASES.indexOf(phase)
    const brought = this.#brought.get(exchange)
    const place = this.#appearances?.of(exchange)
    for (const candidate of brought ? [brought, ...this.#rules] : this.#rules) {
      const due = candidate.dueFor(exchange)
      if (due === now && candidate.takes(exchange, place)) return candidate
      if (due > now && candidate.willStrike(exchange, place)) return undefined
    }
    return undefined
  }

  /** Counts once for all rules: from the first that asks for it, until none does. */
  #countOrNot(): void {
    const sparing = this.#rules.some((rule) => rule.sparing)
    this.#strikesInARow = sparing ? (this.#strikesInARow ?? new StrikesInARow()) : undefined
    this.#appearances = this.#rules.some(({ counts }) => counts) ? (this.#appearances ?? new Appearances()) : undefined
  }

  #inForce(id: string, rule: SoundRule, written: FaultRule): RuleInForce {
    return new RuleInForce(id, rule, written, {
      draw: () => this.#deps.random.next(`fault/${id}`),
      struckInARow: (exchange) => this.#strikesInARow?.of(exchange) ?? 0,
    })
  }

  #strikeOf(striking: RuleInForce, exchange: Exchange, transfer: TransferUnderWay | undefined): Strike {
    const { id, rule, released } = striking
    const { clock, random, chains, pools } = this.#deps
    const named = rule.kind.pool?.(rule.with)
    return {
      id,
      exchange,
      with: rule.with,
      phase: striking.phaseFor(exchange),
      transfer,
      pool: named === undefined ? transfer?.pool : pools.find(({ pool_id }) => pool_id === named),
      released: released.signal,
      clock,
      draw: () => random.next(`fault/${id}/strike`),
      chains,
      breakages: this.#breakages,
    }
  }
}

function issuesIn(result: SoundRule | Issue[], at: Path): Issue[] {
  return Array.isArray(result) ? result.map((issue) => ({ ...issue, path: [...at, ...issue.path] })) : []
}

/** What is wrong with a request that brings this kind along: it must harm nobody else. */
function beyondExchange(name: unknown): Issue[] {
  const kind: FaultKind | undefined = KINDS.find((candidate) => candidate.kind === name)
  if (kind?.scope !== 'service') return []
  const message = `${kind.kind} outlives the request and strikes others too`
  return [{ path: ['kind'], message, fix: 'put it in force by POST /_sandbox/faults' }]
}

/** The header is one parameter, and its match the request itself; what is wrong within it goes into the words. */
function inHeader(issue: Issue): ParameterFault {
  const [step, ...rest] = issue.path
  const path = step === 'with' ? rest : step === 'match' ? ['kind'] : issue.path
  return { param: 'X-Sandbox-Fault', detail: `${formatPath(path)}: ${wordsOf(issue)}` }
}

function refuse(issues: readonly Issue[], render: (issue: Issue) => ParameterFault = parameterFault): void {
  if (issues.length > 0) throw invalidParameters(issues.map(render))
}

export interface EngineDeps {
  clock: SandboxClock
  random: SeededRandom
  chains: Chains
  /** Pools that rules can name. */
  pools: readonly Pool[]
  /** Ids of the chains that are forks of real ones. */
  forks: readonly string[]
  log: Logger
}
