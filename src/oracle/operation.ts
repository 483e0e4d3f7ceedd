import type { Operation as ServiceOperation } from '../domain/operations.ts'
import { atOnce } from '../support/breathe.ts'
import { canonicalJson, jsonObject } from '../support/json.ts'
import { grouped } from '../support/maps.ts'
import type { RecordedExchange, UncountedExchange } from '../traffic/recorded-exchange.ts'
import type { Facts, Ledger, LedgerPortfolio, LedgerTransfer } from './facts.ts'
import type { OperationType } from './outcome.ts'

/** One request of an operation. */
export interface Attempt {
  exchange: RecordedExchange
  said: Said
  /** Real time, milliseconds since the Unix epoch. */
  began: number
  /** Infinite while the exchange is open. */
  ended: number
}

/** State of an operation in the ledger. */
export type LedgerState = 'done' | 'under_way' | 'not_done'

/** All requests under one Idempotency-Key for one end user, and the ledger's state of the operation. */
export interface ClientOperation {
  tenant: string | null
  external_id: string | null
  type: OperationType
  /** As sent. */
  key: string | null
  /** Oldest first; empty for an operation that only the ledger has. */
  attempts: readonly Attempt[]
  state: LedgerState
  /** Its transfers: more than one if the key had expired in between. */
  transfers: readonly LedgerTransfer[]
  /** Null if no request shows it. */
  amount_minor: string | null
  portfolio_id: string | null
  /** Pool of its portfolio, which it moves money of or has made; null if unknown. */
  pool_id: string | null
  /** A key that is the same for operations that ask for the same; null if no request shows it. */
  wish: string | null
}

/** Operations that are judged. */
export const JUDGED_OPERATIONS: readonly (ServiceOperation | null)[] = ['deposit', 'withdraw', 'create_portfolio']

type Source = Pick<Facts, 'kept' | 'exchanges' | 'ledger'>

/** Number of operations of one step of a judgement: with the longest bodies, a step takes some tens of milliseconds. */
export const OPERATIONS_A_STEP = 50

/** Every operation of a run, in the order of its first attempt; those that only the ledger has come last. */
export function operationsOf(source: Source): ClientOperation[] {
  return atOnce(operationsInSteps(source))
}

/** The same in steps, so that other tasks can run in between. */
export function* operationsInSteps({ kept, exchanges, ledger }: Source): Generator<undefined, ClientOperation[]> {
  const sent = [...kept, ...exchanges].filter(({ operation }) => JUDGED_OPERATIONS.includes(operation))
  const books = new Books(ledger)
  const operations: ClientOperation[] = []
  for (const group of groupAttempts(sent.map((exchange) => ({ ...identityOf(exchange), exchange })))) {
    if (operations.length % OPERATIONS_A_STEP === 0) yield
    const attempts = group.map(({ exchange }) => exchange)
    operations.push(operationOf(attempts, books))
  }
  const inRecord = new Set(operations.flatMap(({ transfers }) => transfers))
  const silent = ledger.transfers.filter((transfer) => !inRecord.has(transfer)).map((one) => unsent(one, books))
  return [...operations, ...silent]
}

/** Indexes of the ledger. */
class Books {
  readonly #transfers: ReadonlyMap<string, readonly LedgerTransfer[]>
  readonly #underWay: ReadonlyMap<string, readonly LedgerTransfer[]>
  readonly #made: ReadonlyMap<string, readonly LedgerPortfolio[]>
  readonly #portfolios: ReadonlyMap<string | null, LedgerPortfolio>

  constructor({ transfers, under_way, portfolios }: Ledger) {
    const byKey = (one: LedgerTransfer) => keyName(one.type, one.tenant, one.external_id, one.key)
    this.#transfers = grouped(transfers, byKey)
    this.#underWay = grouped(under_way, byKey)
    this.#made = grouped(portfolios, ({ key, tenant, external_id }) =>
      key === null ? undefined : keyName('create_portfolio', tenant, external_id, key),
    )
    this.#portfolios = new Map(portfolios.map((one) => [one.portfolio_id, one]))
  }

  transfers(name: string): readonly LedgerTransfer[] {
    return this.#transfers.get(name) ?? []
  }

  isUnderWay(name: string): boolean {
    return this.#underWay.has(name)
  }

  /** The portfolio that was made under a key or, if that key is not kept any more, the one that an answer names. */
  made(name: string, answered: readonly string[]): LedgerPortfolio | undefined {
    return this.#made.get(name)?.[0] ?? answered.map((id) => this.portfolio(id)).find(Boolean)
  }

  portfolio(id: string | null): LedgerPortfolio | undefined {
    return this.#portfolios.get(id)
  }
}

function keyName(type: string, tenant: string | null, externalId: string | null, key: string): string {
  return JSON.stringify([type, tenant, externalId, key.toLowerCase()])
}

/** Facts of a request by which it belongs to an operation. */
export interface AttemptIdentity {
  operation: ServiceOperation | null
  tenant: string | null
  external_id: string | null
  /** No other request has it. */
  id: string | number
  /** Its Idempotency-Key in lower case; null for none. */
  key: string | null
  /** Of a request that was refused because its key belongs to another body: its own one in canonical form; null for any other. */
  other_body: string | null
}

/** A name that all attempts at one operation share, and attempts of other tenants or bodies under the same key as well. */
export function placeOfAttempt({ operation, external_id, key, id }: AttemptIdentity): string {
  return key === null ? String(id) : `${operation} ${external_id} ${key}`
}

/**
 * Groups attempts by operation: by their key, or by request without one. A request with an unreadable token belongs to the operation that
 * has its key; one that was refused as a mismatch is grouped by its body as well.
 */
export function groupAttempts<Sent extends AttemptIdentity>(sent: readonly Sent[]): Sent[][] {
  const tenants = new Map<string, string>()
  for (const one of sent) if (one.tenant !== null && one.key !== null) tenants.set(placeOfAttempt(one), one.tenant)
  const groups = grouped(sent, (one) => {
    const place = placeOfAttempt(one)
    if (one.key === null) return place
    const name = `${one.tenant ?? tenants.get(place) ?? ''} ${place}`
    return one.other_body === null ? name : `${name} ${one.other_body}`
  })
  return [...groups.values()]
}

function identityOf(exchange: RecordedExchange): AttemptIdentity {
  const { operation, tenant, external_id, request_id, request, idempotency } = exchange
  const other_body = isMismatch(exchange) ? (canonicalBody(request.body) ?? request_id) : null
  return { operation, tenant, external_id, id: request_id, key: idempotency?.key.toLowerCase() ?? null, other_body }
}

function operationOf(group: readonly RecordedExchange[], books: Books): ClientOperation {
  const [first] = group
  const type = first?.operation as OperationType
  const tenant = group.find((one) => one.tenant !== null)?.tenant ?? null
  const external_id = first?.external_id ?? null
  const key = first?.idempotency?.key ?? null
  const isOwn = key !== null && !(first && isMismatch(first))
  const name = isOwn ? keyName(type, tenant, external_id, key) : ''
  const transfers = books.transfers(name)
  const made = type === 'create_portfolio' ? books.made(name, answersOf(group, 'portfolio_id')) : undefined
  const asked = askedFor(group)
  const portfolio_id = made?.portfolio_id ?? asked.portfolio_id
  const pool_id = books.portfolio(portfolio_id)?.pool_id ?? null
  return {
    ...{ tenant, external_id, type, key, transfers },
    attempts: group.map(attemptOf),
    state: transfers.length > 0 || made ? 'done' : books.isUnderWay(name) ? 'under_way' : 'not_done',
    amount_minor: asked.amount_minor ?? transfers[0]?.amount_minor ?? null,
    ...{ portfolio_id, pool_id },
    wish:
      type === 'create_portfolio'
        ? asked.body
          ? canonicalJson(asked.body)
          : null
        : wishOf(pool_id ?? portfolio_id, asked.amount_minor),
  }
}

/** Place and amount of a transfer. Two portfolios of one pool are one place, since a client may take either. */
function wishOf(place: string | null, amount: string | null): string | null {
  return place === null || amount === null ? null : `${place} ${amount}`
}

/** Values of a field in all successful answers. */
function answersOf(group: readonly RecordedExchange[], field: string): string[] {
  return group.flatMap(({ response }) =>
    response && response.status < 300 ? (textIn(response.body, field) ?? []) : [],
  )
}

/** Null for a body that is not a JSON object. */
export function canonicalBody(text: string | null | undefined): string | null {
  const body = jsonObject(text)
  return body ? canonicalJson(body) : null
}

/** Reads amount, portfolio and body from the requests. */
function askedFor(group: readonly RecordedExchange[]) {
  const texts = group.flatMap(({ request: { body, body_cut } }) => (body === null || body_cut ? [] : [body]))
  const bodies = [...new Set(texts)].map(jsonObject) // a body may be long, and is mostly the same in every attempt
  const first = (name: string) => bodies.map((body) => body?.[name]).find((value) => typeof value === 'string') ?? null
  return { amount_minor: first('amount_minor'), portfolio_id: first('portfolio_id'), body: bodies[0] }
}

/** The operation of a transfer without a request on record. */
function unsent(transfer: LedgerTransfer, books: Books): ClientOperation {
  const { tenant, external_id, type, key, amount_minor, portfolio_id } = transfer
  const pool_id = books.portfolio(portfolio_id)?.pool_id ?? null
  return {
    ...{ tenant, external_id, type, key, amount_minor, portfolio_id, pool_id },
    ...{ attempts: [], state: 'done', transfers: [transfer], wish: wishOf(pool_id ?? portfolio_id, amount_minor) },
  }
}

function attemptOf(exchange: RecordedExchange): Attempt {
  const { began, ended } = exchange
  return {
    exchange,
    said: saidBy(exchange),
    began: Date.parse(began.wall),
    ended: ended === null ? Number.POSITIVE_INFINITY : Date.parse(ended.wall),
  }
}

function textIn(body: string | null, name: string): string | null {
  const value = jsonObject(body)?.[name]
  return typeof value === 'string' ? value : null
}

/** End of its last attempt, in milliseconds since the Unix epoch. */
export function lastEndOf({ attempts }: ClientOperation): number {
  return Math.max(...attempts.map(({ ended }) => ended))
}

/** Begin of its first attempt, in milliseconds since the Unix epoch. */
export function firstBeginOf({ attempts }: Pick<ClientOperation, 'attempts'>): number {
  return attempts[0]?.began ?? Number.POSITIVE_INFINITY
}

/**
 * The meaning of one answer for its operation. `done`: it was carried out. `refused`: the operation's own outcome, and nothing moved.
 * `put_off`: this attempt did nothing; earlier ones may have. `false`: a fault replaced another outcome by a refusal.
 * `nothing`: no answer, or one from which nothing follows.
 */
export type Said = 'done' | 'refused' | 'put_off' | 'false' | 'nothing'

/** A refusal from which nothing follows: the operation may go on, or have been carried out. */
const IN_PROGRESS = 'idempotency_key_in_progress'
const MISMATCH = 'idempotency_key_in_use_with_different_params'
/** Statuses that put an attempt off, whether its key was looked up or not. */
const PUT_OFF = new Set([401, 403, 425, 429])
/** Phases in which the operation has an outcome, or is bound to get one. */
const CARRIED_OUT: readonly string[] = ['after_broadcast', 'after_confirmation', 'during_response']

/** See {@link Said}. Counts only answers that were handed over and after which the client did not reset the connection. */
export function saidBy(exchange: UncountedExchange): Said {
  const { response, idempotency, faults } = exchange
  if (!isHandedOver(exchange) || response === null) return 'nothing'
  const { status, code } = response
  if (status >= 500 || status === 408 || code === IN_PROGRESS) return 'nothing'
  if (status < 300) return 'done'
  const replaced = faults.some(({ kind, phase }) => kind === 'error' && CARRIED_OUT.includes(phase))
  if (replaced && exchange.refusal?.check === 'fault') return 'false'
  if (PUT_OFF.has(status)) return 'put_off'
  if (isMismatch(exchange)) return 'refused'
  return idempotency === null || idempotency.use === 'unused' ? 'put_off' : 'refused'
}

/** @returns true if the client got the whole answer in a readable form */
export function isHandedOver({ end, unread, faults }: UncountedExchange): boolean {
  return end === 'answered' && !unread && !faults.some(({ kind }) => kind === 'malformed_body')
}

/** @returns true if the request was refused because its key was in use with another body: it does not belong to that key's operation */
export function isMismatch({ refusal }: { refusal: { code: string } | null }): boolean {
  return refusal?.code === MISMATCH
}
