import type { LedgerTransfer } from '../../src/oracle/facts.ts'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import { type ExchangeParts, exchange } from './exchange.ts'

/** Parts of the endings a write can have. */
export const DROPPED: ExchangeParts = { end: 'dropped', dropped: 'reset', response: null }
export const ABANDONED: ExchangeParts = { end: 'abandoned', response: null }
export const STRUCK: ExchangeParts = { faults: [{ id: 'flt_1', kind: 'error', phase: 'on_request', explanation: '' }] }
/** Of a request that was refused or dropped before its body was read. */
export const UNREAD: ExchangeParts = { request: { body: null } }

export function answered(status: number, code: string | null = null, headers: [string, string][] = []): ExchangeParts {
  return { response: { status, code, headers } }
}

/** UUID v4 number n. */
export function key(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
}

/** A transfer of alice's under key number `n`, of 1000 minor units, begun at `at`. */
export function transfer(
  n: number,
  at: number,
  { request, ...parts }: ExchangeParts & { amount?: unknown } = {},
): RecordedExchange {
  const { amount = '1000', external_id = 'alice', operation = 'deposit', ...rest } = parts
  const body = JSON.stringify({ portfolio_id: 'jar_1', amount_minor: amount })
  return exchange({
    at,
    operation,
    external_id,
    idempotency: { key: key(n), use: 'first' },
    ...rest,
    request: {
      path: `/v1/partner/end_users/${external_id}/${operation}`,
      headers: [['Content-Length', String(body.length)]],
      body,
      body_bytes: body.length,
      ...request,
    },
  })
}

/** A new portfolio of alice's. */
export function portfolio(n: number, at: number, parts: ExchangeParts = {}): RecordedExchange {
  return transfer(n, at, { operation: 'create_portfolio', request: { body: '{"name":"Savings"}' }, ...parts })
}

/** An end user created; what it asks for is not on record unless it is given. */
export function customer(at: number, { request, ...parts }: ExchangeParts = {}): RecordedExchange {
  const path = '/v1/partner/end_users'
  return exchange({ at, operation: 'create_end_user', external_id: null, ...parts, request: { path, ...request } })
}

/** A page of alice's transactions, those with these ids; or of her portfolios. */
export function list(
  at: number,
  ids: string[] = [],
  { operation = 'list_transactions', ...parts }: ExchangeParts = {},
): RecordedExchange {
  const body = JSON.stringify({ data: ids.map((id) => ({ id })), has_more: false, next_cursor: null })
  return exchange({
    at,
    operation,
    ...parts,
    request: { method: 'GET', path: `/v1/partner/end_users/alice/${operation?.slice(5)}`, ...parts.request },
    response: parts.response === undefined ? { body, body_bytes: body.length } : parts.response,
  })
}

/** A token fetched. */
export function token(at: number, parts: ExchangeParts = {}): RecordedExchange {
  return exchange({ at, operation: 'token', external_id: null, request: { path: '/oauth2/v2.0/token' }, ...parts })
}

/** A deposit of alice's, as the ledger has it; `id` is that of {@link carriedOut}. */
export function ledgerTransfer(id: string, parts: Partial<LedgerTransfer> = {}): LedgerTransfer {
  return {
    transaction_id: id,
    tx_hash: `0x${id}`,
    type: 'deposit',
    tenant: 'acme',
    external_id: 'alice',
    key: id,
    portfolio_id: 'jar_1',
    amount_minor: '1000',
    ...parts,
  }
}

/** What a transfer that was carried out has on record. */
export function carriedOut(id: string, amount_minor = '1000'): ExchangeParts {
  return {
    transfer: {
      type: 'deposit',
      transaction_id: id,
      tx_hash: `0x${id}`,
      portfolio_id: 'jar_1',
      amount_minor,
      shown_by: null,
      steps: [],
    },
  }
}
