import type { Operation } from '../domain/operations.ts'
import type { ExchangeEnd, RecordedExchange } from './recorded-exchange.ts'

/** Which exchanges are meant: every part that is given must fit. */
export interface ExchangeFilter {
  operation?: Operation
  /** Slug. */
  tenant?: string
  external_id?: string
  /** What the client was answered: a status, or a class of them such as `4xx`. */
  status?: number | '1xx' | '2xx' | '3xx' | '4xx' | '5xx'
  /** The error code, also of an answer that never reached its client. */
  code?: string
  end?: ExchangeEnd
  /** Id of a rule that struck it (`header` for one that it brought along), or a kind of faults. */
  fault?: string
  idempotency_key?: string
  /** Ordinal of the connection it came on. */
  connection?: number
}

/** For each part, whether an exchange fits it. */
const TESTS: Record<keyof ExchangeFilter, (exchange: RecordedExchange, filter: ExchangeFilter) => boolean> = {
  operation: (exchange, { operation }) => exchange.operation === operation,
  tenant: (exchange, { tenant }) => exchange.tenant === tenant,
  external_id: (exchange, { external_id }) => exchange.external_id === external_id,
  status: ({ end, response }, { status }) => end === 'answered' && response !== null && isOf(response.status, status),
  code: ({ response, refusal }, { code }) => response?.code === code || refusal?.code === code,
  end: (exchange, { end }) => exchange.end === end,
  fault: ({ faults }, { fault }) => faults.some(({ id, kind }) => id === fault || kind === fault),
  idempotency_key: ({ idempotency }, { idempotency_key }) => idempotency?.key === idempotency_key,
  connection: (exchange, { connection }) => exchange.connection === connection,
}

const PARTS = Object.keys(TESTS) as (keyof ExchangeFilter)[]

/** @returns true if an exchange is one of those meant */
export function fits(exchange: RecordedExchange, filter: ExchangeFilter): boolean {
  return PARTS.every((name) => filter[name] === undefined || TESTS[name](exchange, filter))
}

function isOf(status: number, wanted: ExchangeFilter['status']): boolean {
  return typeof wanted === 'number' ? status === wanted : `${Math.floor(status / 100)}xx` === wanted
}
