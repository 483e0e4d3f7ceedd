import type { Operation } from '../../domain/operations.ts'
import { grouped } from '../../support/maps.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import type { Evidence } from '../finding.ts'
import { beganAt, endedAt, type Fate, fateOf } from './answers.ts'
import { idempotencyKeyOf } from './requests.ts'

/** One exchange of an end user, with derived facts that every judge needs. */
export interface Step {
  exchange: RecordedExchange
  /** Index among the exchanges of its end user, from 0. */
  place: number
  /** Real time, milliseconds since the Unix epoch. */
  began: number
  /** Infinite while the exchange is open. */
  ended: number
  fate: Fate
  /** In lower case, since case makes no difference in a UUID. */
  key: string | null
  /** True if it is older than the record, and other requests of its time are forgotten: judges may use it, but must not judge it. */
  kept: boolean
}

/** The exchanges of one end user of one tenant, oldest first. */
export interface Timeline {
  steps: readonly Step[]
  /** Steps by operation and key, oldest first; see {@link attemptsOf}. */
  attempts: ReadonlyMap<string, readonly Step[]>
  /** True if several workers write for the end user: two writes under different keys were in flight at the same time. */
  crowded: boolean
}

const TRANSFERS: readonly (Operation | null)[] = ['deposit', 'withdraw']
const WRITES: readonly (Operation | null)[] = [...TRANSFERS, 'create_portfolio']

/** @returns true if it moves money */
export function isTransfer({ operation }: RecordedExchange): boolean {
  return TRANSFERS.includes(operation)
}

/** @returns true if it is one of the operations that must not happen twice */
export function isWrite({ operation }: RecordedExchange): boolean {
  return WRITES.includes(operation)
}

const knownTimelines = new WeakMap<Evidence, Timeline[]>()

/** A timeline for each end user whose tenant is known. */
export function timelinesOf(evidence: Evidence): readonly Timeline[] {
  const kept = knownTimelines.get(evidence)
  if (kept) return kept
  const old = new Set(evidence.kept)
  const users = grouped([...evidence.kept, ...evidence.exchanges], endUserOf)
  const timelines = [...users.values()].map((exchanges) => timelineOf(exchanges, old))
  knownTimelines.set(evidence, timelines)
  return timelines
}

/** Every request with the operation and key of a step, including the step. */
export function attemptsOf({ attempts }: Timeline, { exchange, key }: Step): readonly Step[] {
  return key === null ? [] : (attempts.get(`${exchange.operation} ${key}`) ?? [])
}

/** Steps of the same end user that began after a step had ended, oldest first. */
export function* stepsAfter({ steps }: Timeline, { place, ended }: Pick<Step, 'place' | 'ended'>): Generator<Step> {
  for (let next = place + 1; next < steps.length; next++) {
    const step = steps[next]
    if (step && step.began >= ended) yield step
  }
}

/** A key of an end user; undefined if the tenant or the end user is unknown. */
function endUserOf({ tenant, external_id }: RecordedExchange): string | undefined {
  return tenant === null || external_id === null ? undefined : `${tenant} ${external_id}`
}

function timelineOf(exchanges: readonly RecordedExchange[], old: ReadonlySet<RecordedExchange>): Timeline {
  const steps = exchanges.map((exchange, place) => stepOf(exchange, place, old.has(exchange)))
  const attempts = grouped(steps, ({ exchange, key }) => (key === null ? undefined : `${exchange.operation} ${key}`))
  return { steps, attempts, crowded: isCrowded(steps.filter((step) => isWrite(step.exchange) && step.key !== null)) }
}

function isCrowded(writes: readonly Step[]): boolean {
  let last: Step | undefined
  for (const write of writes) {
    if (last && last.key !== write.key && overlap(last, write)) return true
    if (!last || write.ended > last.ended) last = write
  }
  return false
}

/** Milliseconds by which two requests on record may overlap although the client sent them in turn: the times are the server's. */
const SLACK_MS = 10

/** @returns true if two requests were in flight at the same time */
export function overlap(one: Step, other: Step): boolean {
  return one.began + SLACK_MS < other.ended && other.began + SLACK_MS < one.ended
}

function stepOf(exchange: RecordedExchange, place: number, kept: boolean): Step {
  return {
    exchange,
    place,
    began: beganAt(exchange),
    ended: endedAt(exchange),
    fate: fateOf(exchange),
    key: idempotencyKeyOf(exchange)?.toLowerCase() ?? null,
    kept,
  }
}

/** @returns true if the answer of an attempt reports its operation's outcome: an answer before the key was looked up does not */
export function tellsOutcome({ fate, exchange }: Step): boolean {
  if (fate === 'refused') return exchange.idempotency !== null && exchange.idempotency.use !== 'unused'
  return fate === 'done'
}

const ledgerIds = new WeakMap<Evidence, ReadonlySet<string>>()

/** @returns true if the ledger has the transaction or portfolio of one of these attempts */
export function isCarriedOut(attempts: readonly Step[], evidence: Evidence): boolean {
  const entries = ledgerIds.get(evidence) ?? entriesOf(evidence)
  ledgerIds.set(evidence, entries)
  return attempts.some(({ exchange, key }) => {
    const { tenant, external_id, transfer } = exchange
    if (!isTransfer(exchange)) return entries.has(portfolioName(tenant, external_id, key))
    return [transfer?.transaction_id, transfer?.tx_hash].some((name) => typeof name === 'string' && entries.has(name))
  })
}

function entriesOf({ ledger }: Evidence): Set<string> {
  const entries = new Set(ledger.transfers.flatMap(({ transaction_id, tx_hash }) => [transaction_id, tx_hash]))
  for (const { tenant, external_id, key } of ledger.portfolios) {
    if (key !== null) entries.add(portfolioName(tenant, external_id, key))
  }
  return entries
}

function portfolioName(...parts: (string | null)[]): string {
  return JSON.stringify(parts)
}
