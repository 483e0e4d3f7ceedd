import type { SandboxClock } from '../domain/clock.ts'
import { invalidParameters, type ParameterFault, Problem, parameterFault } from '../domain/errors.ts'
import type { Exchange } from '../domain/exchange.ts'
import type { Chains } from '../domain/ports/chain.ts'
import type { Pool } from '../domain/records.ts'
import type { TransferUnderWay } from '../domain/transfers.ts'
import { formatPath, type Issue, type Path, wordsOf } from '../support/issue.ts'
import type { Logger } from '../support/logger.ts'
import type { SeededRandom } from '../support/random.ts'
import { type ActiveFault, ActiveRule, type FaultPreview, previewOf } from './active-rule.ts'
import { RequestCounter, StrikesInARow } from './counters.ts'
import type { FaultKind } from './fault-kind.ts'
import { type CheckedRule, checkRule, type FaultRule, parseFaultHeader, type RulePools } from './fault-rule.ts'
import { type Held, type HoldWish, holdKind } from './hold.ts'
import { KINDS } from './kinds/index.ts'
import { PHASES, type Phase } from './phase.ts'
import { type RepairDeps, Repairs } from './repairs.ts'
import { FROM_HEADER, type Strike } from './strike.ts'

/** Rules in force at once: every request is matched against every rule. */
const MAX_RULES = 1000

/** Keeps the rules and lets them strike. One exchange is struck by one rule at most: the first that was added, of those that fit. */
export class FaultEngine {
  /** Hears that the rules in force have changed, or that one has struck; null while nobody looks. */
  watcher: (() => void) | null = null
  #rules: ActiveRule[] = []
  #added = 0
  /** Undefined while no rule needs it. */
  #requests: RequestCounter | undefined
  /** Undefined while no rule needs it. */
  #strikesInARow: StrikesInARow | undefined
  /** Rules that requests brought in their own header. A transfer goes on, and may be struck, after its exchange is over. */
  readonly #fromHeader = new WeakMap<Exchange, ActiveRule>()
  /** Exchanges with such a rule that are not over: {@link clear} reaches them. */
  readonly #openWithHeader = new Set<Exchange>()
  readonly #deps: EngineDeps
  readonly #pools: RulePools
  /** Everything that rules broke: see there when it is repaired. */
  readonly repairs: Repairs

  constructor(deps: EngineDeps) {
    this.#deps = deps
    const idsOf = (pools: readonly Pool[]) => [...new Set(pools.map(({ pool_id }) => pool_id))]
    const forked = deps.pools.filter(({ chain_id }) => deps.forks.includes(chain_id))
    this.#pools = { ids: idsOf(deps.pools), forked: idsOf(forked) }
    this.repairs = new Repairs({ ...deps, pools: deps.pools.filter((pool) => !forked.includes(pool)) })
  }

  /** @returns true if any rule could strike this exchange. If not, its tenant need not be known. */
  concerns(exchange: Exchange): boolean {
    return this.#rules.length > 0 || this.#fromHeader.has(exchange)
  }

  /**
   * Puts rules in force, all or none. `pathOf` returns the path of the rule with this index in the caller's input. Throws Problem
   * validation_error, which names each wrong parameter by its path.
   */
  add(
    inputs: readonly unknown[],
    tenants: readonly string[],
    pathOf: (index: number) => Path = pathAmong(inputs),
  ): ActiveFault[] {
    const rules = this.#check(inputs, tenants, pathOf).map((rule, i) =>
      this.#activate(`fault-${this.#added + i + 1}`, rule, inputs[i] as FaultRule),
    )
    this.#added += rules.length
    this.#rules = [...this.#rules, ...rules]
    this.#updateCounters()
    this.watcher?.()
    return rules.flatMap((rule) => rule.show() ?? [])
  }

  /**
   * Holds the first exchange that fits until it is released; {@link clear} lets it go as well. It is not listed, and the ids of rules do not
   * count it.
   */
  hold(wish: HoldWish): Held {
    const { phase, match } = wish
    let held = (_: Exchange) => {}
    const sprung = new Promise<Exchange>((resolve) => {
      held = resolve
    })
    const once = { skip: 0, times: 1, probability: 1, in_a_row: Number.POSITIVE_INFINITY, with: {} }
    const rule: CheckedRule = {
      kind: holdKind(wish, held),
      phase,
      match,
      operations: new Set([match.operation]),
      ...once,
    }
    const active = this.#activate('hold', rule, null)
    this.#rules = [...this.#rules, active]
    this.#updateCounters()
    const release = () => {
      this.#rules = this.#rules.filter((one) => one !== active)
      this.#updateCounters()
      active.released.abort()
    }
    return { sprung, release }
  }

  /** Returns what {@link add} would put in force, and puts nothing in force. Throws as that does. */
  preview(inputs: readonly unknown[], tenants: readonly string[]): FaultPreview[] {
    return this.#check(inputs, tenants, pathAmong(inputs)).map((rule, i) => previewOf(rule, inputs[i] as FaultRule))
  }

  /** Throws Problem validation_error, which names each wrong parameter by its path. */
  #check(inputs: readonly unknown[], tenants: readonly string[], pathOf: (index: number) => Path): CheckedRule[] {
    if (this.#rules.length + inputs.length > MAX_RULES) {
      const detail = `At most ${MAX_RULES} faults can be kept, those that have struck included; clear some first.`
      throw new Problem('validation_error', { detail, param: 'body' })
    }
    const checked = inputs.map((input) => checkRule(input, tenants, this.#pools))
    refuse(checked.flatMap((result, i) => issuesIn(result, pathOf(i))))
    return checked.flatMap((rule) => (Array.isArray(rule) ? [] : [rule]))
  }

  /**
   * Puts a fault in force for this exchange alone, from its `X-Sandbox-Fault` header. It goes before the other rules, and is
   * cleared when the exchange is over. Throws Problem validation_error.
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
    const active = this.#activate(FROM_HEADER, rule, input as FaultRule)
    if (!active.applies(exchange))
      refuse([{ path: ['kind'], message: `${rule.kind.kind} cannot strike this request` }], inHeader)
    this.#fromHeader.set(exchange, active)
    this.#openWithHeader.add(exchange)
    const over = () => {
      this.#openWithHeader.delete(exchange)
      active.released.abort()
    }
    exchange.over.addEventListener('abort', over, { once: true })
    if (exchange.over.aborted) over()
  }

  list(): ActiveFault[] {
    return this.#rules.flatMap((rule) => rule.show() ?? [])
  }

  /** Returns the rules with these ids. A rule keeps its count of strikes after it is cleared. */
  rulesOf(ids: ReadonlySet<string>): ActiveRule[] {
    return this.#rules.filter(({ id }) => ids.has(id))
  }

  /** Clears a rule. @returns true if there was such a rule */
  remove(id: string): boolean {
    const rule = this.#rules.find((candidate) => candidate.id === id)
    this.#rules = this.#rules.filter((candidate) => candidate !== rule)
    this.#updateCounters()
    rule?.released.abort()
    this.watcher?.()
    return rule !== undefined
  }

  /** Clears every rule and counts ids from 1 again, so that the same requests get the same run. The chains' reset repairs. */
  reset(): void {
    this.repairs.abandon()
    this.clear()
    this.#added = 0
  }

  /** Clears every rule. Ids are not used again, so that a client that kept one cannot remove another rule with it. */
  clear(): void {
    const own = [...this.#openWithHeader].flatMap((exchange) => this.#fromHeader.get(exchange) ?? [])
    for (const exchange of this.#openWithHeader) this.#fromHeader.delete(exchange)
    this.#openWithHeader.clear()
    const cleared = [...this.#rules, ...own]
    this.#rules = []
    this.#updateCounters()
    for (const { released } of cleared) released.abort()
    this.watcher?.()
  }

  /**
   * Lets a rule of this phase strike, unless another rule has struck the exchange or is going to. Throws the answer that the fault
   * gives (a Problem), or ExchangeEnded if there is none.
   */
  async at(phase: Phase, exchange: Exchange, transfer?: TransferUnderWay): Promise<void> {
    if (phase === 'on_request') {
      this.#requests?.note(exchange)
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
    this.watcher?.()
    if (phase === 'on_request') await exchange.readBody()
    try {
      await rule.kind.strike(strike)
    } catch (error) {
      // The check that refused is the fault, although the code is that of another check.
      if (error instanceof Problem) error.details.check ??= 'fault'
      throw error
    }
  }

  /** Returns the first rule that strikes the exchange, if its phase is this one: an earlier rule may wait for a later phase. */
  #next(phase: Phase, exchange: Exchange): ActiveRule | undefined {
    const now = PHASES.indexOf(phase)
    const own = this.#fromHeader.get(exchange)
    const numbers = this.#requests?.of(exchange)
    for (const candidate of own ? [own, ...this.#rules] : this.#rules) {
      const due = candidate.dueFor(exchange)
      if (due === now && candidate.takes(exchange, numbers)) return candidate
      if (due > now && candidate.willStrike(exchange, numbers)) return undefined
    }
    return undefined
  }

  /** Rules share their counters: each counts from the first rule that needs it until no rule does. */
  #updateCounters(): void {
    const needed = (by: 'needsNumbers' | 'limitsRow') => this.#rules.some((rule) => rule[by])
    this.#requests = needed('needsNumbers') ? (this.#requests ?? new RequestCounter()) : undefined
    this.#strikesInARow = needed('limitsRow') ? (this.#strikesInARow ?? new StrikesInARow()) : undefined
  }

  #activate(id: string, rule: CheckedRule, written: FaultRule | null): ActiveRule {
    return new ActiveRule(id, rule, written, {
      draw: () => this.#deps.random.next(`fault/${id}`),
      struckInARow: (exchange) => this.#strikesInARow?.of(exchange) ?? 0,
    })
  }

  #strikeOf(striking: ActiveRule, exchange: Exchange, transfer: TransferUnderWay | undefined): Strike {
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
      repairs: this.repairs,
    }
  }
}

/** The path of a rule: none if there is one alone. */
function pathAmong(inputs: readonly unknown[]): (index: number) => Path {
  return (i) => (inputs.length > 1 ? [i] : [])
}

function issuesIn(result: CheckedRule | Issue[], at: Path): Issue[] {
  return Array.isArray(result) ? result.map((issue) => ({ ...issue, path: [...at, ...issue.path] })) : []
}

/** Returns an issue for a kind that a request must not bring, since it affects others too. */
function beyondExchange(name: unknown): Issue[] {
  const kind: FaultKind | undefined = KINDS.find((candidate) => candidate.kind === name)
  if (kind?.scope !== 'service') return []
  const message = `${kind.kind} outlives the request and strikes others too`
  return [{ path: ['kind'], message, fix: 'put it in force by POST /_sandbox/faults' }]
}

/** The header is one parameter, so the path within it goes into the detail. Its match is the request itself, chosen by `kind`. */
function inHeader(issue: Issue): ParameterFault {
  const [step, ...rest] = issue.path
  const path = step === 'with' ? rest : step === 'match' ? ['kind'] : issue.path
  return { param: 'X-Sandbox-Fault', detail: `${formatPath(path)}: ${wordsOf(issue)}` }
}

function refuse(issues: readonly Issue[], render: (issue: Issue) => ParameterFault = parameterFault): void {
  if (issues.length > 0) throw invalidParameters(issues.map(render))
}

export interface EngineDeps extends Pick<RepairDeps, 'mayBreak'> {
  clock: SandboxClock
  random: SeededRandom
  chains: Chains
  /** Pools that rules can name. */
  pools: readonly Pool[]
  /** Ids of the chains that are forks of real ones. */
  forks: readonly string[]
  log: Logger
}
