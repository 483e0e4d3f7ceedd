import { grouped } from '../support/maps.ts'
import { headerOf } from '../traffic/headers.ts'
import type { RecordedExchange } from '../traffic/recorded-exchange.ts'
import type { Facts, ListOperation, Sibling } from './facts.ts'
import { type ClientOperation, isHandedOver, lastEndOf } from './operation.ts'

/**
 * The strongest news of an operation that a client got, by all its attempts and by its later requests, in this order.
 * `found`: in a list that it asked for because of it. `in_passing`: in a list that it may have asked for anyway. `balance`, `chain`: by
 * the portfolios, by the chain itself. It says what a client could know, never what it believes.
 */
export type Told = 'done' | 'refused' | 'found' | 'false' | 'put_off' | 'in_passing' | 'balance' | 'chain' | 'nothing'

/** See {@link Told}; `by` holds the exchanges that show it beside the attempts. */
export interface Telling {
  told: Told
  by: readonly RecordedExchange[]
  /** True if a list that came after an attempt without an outcome lacks the operation. */
  looked: boolean
}

/** Milliseconds by which two requests on record may overlap although the client sent them in turn: the times are the server's. */
export const SLACK_MS = 10

/** The lists and writes of a run by end user, and other sources from which a client may have learned something. */
export class RunSurroundings {
  readonly sibling: Sibling | undefined
  /** Time of the last request to a chain, in milliseconds since the Unix epoch; minus infinity for none. */
  readonly rpcAt: number
  readonly #starts: readonly number[]
  readonly #twin: string | undefined
  readonly #lists: ReadonlyMap<string, readonly RecordedExchange[]>
  readonly #writes: ReadonlyMap<string, readonly RecordedExchange[]>

  /** `starts`: numbers of the last exchanges before each further start of the client, in order; `twin`: the address of a second process. */
  constructor(
    { kept, exchanges, rpc_at }: Pick<Facts, 'kept' | 'exchanges' | 'rpc_at'>,
    sibling: Sibling | undefined,
    { starts = [], twin }: { starts?: readonly number[] | undefined; twin?: string | undefined } = {},
  ) {
    this.sibling = sibling
    this.#starts = starts
    this.#twin = twin
    this.rpcAt = rpc_at ?? Number.NEGATIVE_INFINITY
    const all = [...kept, ...exchanges]
    this.#lists = grouped(all, (one) => (isList(one) && isHandedOver(one) ? (one.external_id ?? undefined) : undefined))
    this.#writes = grouped(all, (one) => (isWrite(one) ? (one.external_id ?? undefined) : undefined))
  }

  /** Answered lists of an end user, oldest first. */
  lists(list: ListOperation, { external_id, tenant }: ClientOperation): readonly RecordedExchange[] {
    const own = this.#lists.get(external_id ?? '') ?? []
    return own.filter((one) => one.operation === list && one.response?.status === 200 && one.tenant === tenant)
  }

  /** Number of answered lists like this one, of the same start and process of the client, counted as in the unharmed run. */
  alike(look: RecordedExchange, { whoIs }: Sibling): number {
    const { operation, tenant, external_id, number } = look
    const who = whoIs(tenant, external_id)
    const after = this.#starts.findLast((start) => start < number) ?? 0
    const until = this.#starts.find((start) => start >= number) ?? Number.POSITIVE_INFINITY
    return [...this.#lists.values()].flat().filter((one) => {
      const isOfSameStart = one.number > after && one.number <= until && this.#isOfTwin(one) === this.#isOfTwin(look)
      return isOfSameStart && one.operation === operation && whoIs(one.tenant, one.external_id) === who
    }).length
  }

  #isOfTwin(list: RecordedExchange): boolean {
    return this.#twin !== undefined && addressOf(list) === this.#twin
  }

  /** Writes of an end user, oldest first. */
  writes({ external_id }: ClientOperation): readonly RecordedExchange[] {
    return this.#writes.get(external_id ?? '') ?? []
  }
}

/** The address that the client addressed, in lower case; undefined for an exchange that has lost its headers. */
export function addressOf({ request: { headers } }: Pick<RecordedExchange, 'request'>): string | undefined {
  return headerOf(headers, 'host')?.toLowerCase()
}

/** Finds the strongest news of an operation that the client got until a moment of real time; default: until the end. */
export function toldOf(operation: ClientOperation, around: RunSurroundings, until = Number.POSITIVE_INFINITY): Telling {
  const said = new Set(operation.attempts.flatMap(({ ended, said }) => (ended <= until + SLACK_MS ? [said] : [])))
  const of = (told: Told, by: readonly RecordedExchange[] = [], looked = false): Telling => ({ told, by, looked })
  if (said.has('done')) return of('done')
  if (said.has('refused')) return of('refused')
  const looksIn = (list: ListOperation) => looksAfter(operation, list, around).filter((look) => beganAt(look) <= until)
  const looks = looksIn(operation.type === 'create_portfolio' ? 'list_portfolios' : 'list_transactions')
  const certain = looks.filter((look) => isIn(look, operation))
  const found = certain.find((look) => isBecauseOf(look, operation, around))
  if (found) return of('found', [found])
  if (said.has('false')) return of('false')
  if (said.has('put_off') && !said.has('nothing')) return of('put_off')
  const passing = certain[0] ?? looks.find(({ response }) => response?.body_cut)
  if (passing) return of('in_passing', [passing])
  const balances = operation.type === 'create_portfolio' ? [] : looksIn('list_portfolios')
  const balance = balances.find((look) => isBecauseOf(look, operation, around))
  if (balance) return of('balance', [balance])
  if (around.rpcAt >= lastEndOf(operation) && around.rpcAt <= until) return of('chain')
  return of('nothing', looks.slice(0, 1), looks.length > 0)
}

/** Lists that were asked for after an attempt had ended without an outcome. */
function looksAfter(operation: ClientOperation, list: ListOperation, around: RunSurroundings): RecordedExchange[] {
  const since = Math.min(...operation.attempts.map(({ ended }) => ended))
  const first = operation.attempts.find(({ ended }) => ended === since)?.exchange.number ?? 0
  // A client that is fast asks before an attempt, and has lost its answer, within the slack: the order of arrival tells them apart.
  return around.lists(list, operation).filter((look) => look.number > first && beganAt(look) + SLACK_MS >= since)
}

/** @returns true if the list certainly has the operation; of a cut body only the beginning is on record */
function isIn({ response }: RecordedExchange, { transfers, type, portfolio_id }: ClientOperation): boolean {
  const names =
    type === 'create_portfolio' ? [portfolio_id] : transfers.flatMap((one) => [one.tx_hash, one.transaction_id])
  return names.some((name) => name !== null && response?.body?.includes(name))
}

/**
 * With an unharmed run: true if this one asks for more such lists of the end user. Without: true if no other write of the end user came
 * between the operation and the list. Nobody can know whether a list after the last write of a run would have been asked for anyway.
 */
function isBecauseOf(look: RecordedExchange, operation: ClientOperation, around: RunSurroundings): boolean {
  const { sibling } = around
  const { tenant, external_id, attempts } = operation
  if (sibling) {
    const who = sibling.whoIs(tenant, external_id)
    return around.alike(look, sibling) > sibling.lists(look.operation as ListOperation, who)
  }
  const last = attempts.at(-1)?.exchange.number ?? 0
  return !around.writes(operation).some((one) => one.number > last && one.number < look.number)
}

function isWrite({ operation }: RecordedExchange): boolean {
  return operation === 'deposit' || operation === 'withdraw' || operation === 'create_portfolio'
}

function isList({ operation }: RecordedExchange): boolean {
  return operation === 'list_transactions' || operation === 'list_portfolios'
}

function beganAt({ began }: RecordedExchange): number {
  return Date.parse(began.wall)
}
