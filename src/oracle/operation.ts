import type { Operation as ServiceOperation } from '../domain/operations.ts'
import { atOnce } from '../support/breathe.ts'
import { canonicalJson, jsonObject } from '../support/json.ts'
import { grouped } from '../support/maps.ts'
import type { RecordedExchange } from '../traffic/recorded-exchange.ts'
import type { Facts, Ledger, LedgerPortfolio, LedgerTransfer } from './facts.ts'
import type { OperationType } from './outcome.ts'

/** One request of an operation. */
export interface Attempt {
  exchange: RecordedExchange
  said: Said
  /** Real time, milliseconds since the Unix epoch. */
  began: number
  /** Infinite while it is open. */
  ended: number
}

/** What the ledger has of an operation. */
export type LedgerState = 'done' | 'under_way' | 'not_done'

/** Everything that was sent under one Idempotency-Key for one end user, and what the ledger has of it. */
export interface ClientOperation {
  tenant: string | null
  external_id: string | null
  type: OperationType
  /** As sent. */
  key: string | null
  /** Oldest first; none of one that only the ledger knows. */
  attempts: readonly Attempt[]
  state: LedgerState
  /** What it moved: more than one when its key had expired in between. */
  transfers: readonly LedgerTransfer[]
  /** Null where no request says it. */
  amount_minor: string | null
  portfolio_id: string | null
  /** Of the portfolio that it moves money of, or that it made; null where that is not known. */
  pool_id: string | null
  /** The same for operations that ask for the same; null where no request says it. */
  wish: string | null
}

const TYPES: readonly (ServiceOperation | null)[] = ['deposit', 'withdraw', 'create_portfolio']

type Source = Pick<Facts, 'kept' | 'exchanges' | 'ledger'>

/** So many operations are one step of a judgement: of those with the longest bodies, that takes some tens of milliseconds. */
export const OPERATIONS_A_STEP = 50

/** Every operation of a run, in the order of its first attempt; those that only the ledger knows come last. */
export function operationsOf(source: Source): ClientOperation[] {
  return atOnce(operationsInSteps(source))
}

/** The same, with a pause now and then for those who have something else to do. */
export function* operationsInSteps({ kept, exchanges, ledger }: Source): Generator<undefined, ClientOperation[]> {
  const sent = [...kept, ...exchanges].filter(({ operation }) => TYPES.includes(operation))
  const known = tenantsByKey(sent)
  const books = new Books(ledger)
  const groups = grouped(sent, (exchange) => attemptGroup(exchange, known))
  const operations: ClientOperation[] = []
  for (const group of groups.values()) {
    if (operations.length % OPERATIONS_A_STEP === 0) yield
    operations.push(operationOf(group, books))
  }
  const inRecord = new Set(operations.flatMap(({ transfers }) => transfers))
  const silent = ledger.transfers.filter((transfer) => !inRecord.has(transfer)).map((one) => unsent(one, books))
  return [...operations, ...silent]
}

/** The ledger by what it is asked for. */
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

  /** The portfolio that was made under a key or, when that is not kept any more, the one that an answer names. */
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

/** An operation by its key; a request without one stands for itself, those refused because of another body go by that body. */
function attemptGroup(exchange: RecordedExchange, known: ReadonlyMap<string, string>): string {
  const { operation, tenant, external_id, request_id, request } = exchange
  const key = exchange.idempotency?.key.toLowerCase()
  if (key === undefined) return request_id
  const whose = `${operation} ${external_id} ${key}`
  const name = `${tenant ?? known.get(whose) ?? ''} ${whose}`
  return isMismatch(exchange) ? `${name} ${canonicalBody(request.body) ?? request_id}` : name
}

/** A request whose token nobody could read belongs to the operation that has its key. */
function tenantsByKey(sent: readonly RecordedExchange[]): Map<string, string> {
  const tenants = new Map<string, string>()
  for (const { operation, tenant, external_id, idempotency } of sent) {
    if (tenant !== null && idempotency) {
      tenants.set(`${operation} ${external_id} ${idempotency.key.toLowerCase()}`, tenant)
    }
  }
  return tenants
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

/** Of a transfer: where and how much. Two portfolios of one pool are one place, since a client may well take either. */
function wishOf(place: string | null, amount: string | null): string | null {
  return place === null || amount === null ? null : `${place} ${amount}`
}

/** A field of every answer that says it is done. */
function answersOf(group: readonly RecordedExchange[], field: string): string[] {
  return group.flatMap(({ response }) =>
    response && response.status < 300 ? (textIn(response.body, field) ?? []) : [],
  )
}

/** Null for a body that is no JSON. */
function canonicalBody(text: string | null | undefined): string | null {
  const body = jsonObject(text)
  return body ? canonicalJson(body) : null
}

/** What the bodies say. */
function askedFor(group: readonly RecordedExchange[]) {
  const texts = group.flatMap(({ request: { body, body_cut } }) => (body === null || body_cut ? [] : [body]))
  const bodies = [...new Set(texts)].map(jsonObject) // a body may be long, and is mostly the same in every attempt
  const first = (name: string) => bodies.map((body) => body?.[name]).find((value) => typeof value === 'string') ?? null
  return { amount_minor: first('amount_minor'), portfolio_id: first('portfolio_id'), body: bodies[0] }
}

/** A transfer of which no request is on record. */
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

/** When the last of its attempts ended, or began if that was later: milliseconds since the Unix epoch. */
export function lastEndOf({ attempts }: ClientOperation): number {
  return Math.max(...attempts.map(({ ended }) => ended))
}

/** When its first attempt began: milliseconds since the Unix epoch. */
export function firstBeginOf({ attempts }: Pick<ClientOperation, 'attempts'>): number {
  return attempts[0]?.began ?? Number.POSITIVE_INFINITY
}

/**
 * What one answer tells a client of its operation. `done`: it was carried out. `refused`: the operation's own outcome, and nothing moved.
 * `put_off`: nothing was done by this attempt; of earlier ones it says nothing. `false`: a fault put a refusal in the place of another
 * outcome. `nothing`: no answer, or one from which nothing follows.
 */
export type Said = 'done' | 'refused' | 'put_off' | 'false' | 'nothing'

/** A refusal that says nothing of the operation: it may go on, or have been carried out. */
const IN_PROGRESS = 'idempotency_key_in_progress'
const MISMATCH = 'idempotency_key_in_use_with_different_params'
/** Statuses by which an attempt is put off, whoever looked at its key. */
const PUT_OFF = new Set([401, 403, 425, 429])
/** Phases in which the operation has come to an outcome, or is bound to. */
const CARRIED_OUT: readonly string[] = ['after_broadcast', 'after_confirmation', 'during_response']

/** See {@link Said}. Only what was handed over counts, and only if the client did not reset the connection on it. */
export function saidBy(exchange: RecordedExchange): Said {
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

/** @returns true if the client had all of an answer, in a form that can be read */
export function isHandedOver({ end, unread, faults }: RecordedExchange): boolean {
  return end === 'answered' && !unread && !faults.some(({ kind }) => kind === 'malformed_body')
}

/** @returns true if a request was refused because its key was in use with another body: it is no attempt of the operation of that key */
function isMismatch({ refusal }: Pick<RecordedExchange, 'refusal'>): boolean {
  return refusal?.code === MISMATCH
}
