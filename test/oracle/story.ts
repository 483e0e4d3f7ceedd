import type { LedgerTransfer, Sibling } from '../../src/oracle/facts.ts'
import { type Beside, judgeOperations } from '../../src/oracle/judge-operations.ts'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import { type EvidenceParts, evidenceOf } from '../verdict/evidence.ts'
import { type ExchangeParts, exchange } from '../verdict/exchange.ts'

export const PORTFOLIO = {
  ...{ tenant: 'acme', external_id: 'alice', portfolio_id: 'jar_1', pool_id: 'aave-usdc' },
  ...{ token_symbol: 'USDC', token_decimals: 6, key: null },
}

interface Wish extends ExchangeParts {
  key: string
  amount?: string
  portfolio?: string
}

/** A deposit or withdrawal as it was sent; answered with success unless something else is given. */
export function transfer({ key, amount = '250000000', portfolio = 'jar_1', ...parts }: Wish): RecordedExchange {
  const body = JSON.stringify({ portfolio_id: portfolio, amount_minor: amount })
  return exchange({
    idempotency: { key, use: 'first' },
    ...parts,
    request: { body, body_bytes: body.length, ...parts.request },
  })
}

/** What the ledger has of it. */
export function booked(key: string, parts: Partial<LedgerTransfer> = {}): LedgerTransfer {
  return {
    ...{ transaction_id: `txn_${key}`, type: 'deposit', tenant: 'acme', external_id: 'alice', key },
    ...{ portfolio_id: 'jar_1', amount_minor: '250000000', tx_hash: `0x${key}` },
    ...parts,
  }
}

/** Ways in which an attempt ends without telling anything. */
export const LOST = { end: 'dropped' as const, dropped: 'reset' as const, response: null }
export const UNAVAILABLE = { response: { status: 503, code: 'chain_unavailable' } }

/** A list that has these transactions. */
export function list(at: number, hashes: readonly string[], parts: ExchangeParts = {}): RecordedExchange {
  const body = JSON.stringify({ data: hashes.map((tx_hash) => ({ tx_hash })) })
  return exchange({ operation: 'list_transactions', at, ...parts, response: { body, ...parts.response } })
}

type Rest = EvidenceParts & Beside

/** Every outcome of a run, as `id level`, the worst first. */
export function outcomes(
  exchanges: readonly RecordedExchange[],
  transfers: readonly LedgerTransfer[],
  rest: Rest = {},
): string[] {
  return judged(exchanges, transfers, rest).map(({ outcome, level }) => `${outcome} ${level}`)
}

/** The same, whole. */
export function judged(
  exchanges: readonly RecordedExchange[],
  transfers: readonly LedgerTransfer[],
  { sibling, restarted, starts, twin, ...rest }: Rest = {},
) {
  const ledger = { transfers, under_way: [], portfolios: [PORTFOLIO], ...rest.ledger }
  return judgeOperations(evidenceOf(exchanges, { ...rest, ledger }), { sibling, restarted, starts, twin })
}

/** An unharmed run in which alice paid in 250.00 once, and asked for no list. */
export function sibling(parts: Partial<Sibling> = {}): Sibling {
  return {
    whoIs: (tenant, externalId) => JSON.stringify([tenant, externalId]),
    lists: () => 0,
    made: [made()],
    amounts: true,
    key_again: false,
    ...parts,
  }
}

/** What an unharmed run carried out. */
export function made(count = 1, parts: Partial<Sibling['made'][number]> = {}): Sibling['made'][number] {
  const who = JSON.stringify(['acme', 'alice'])
  return { who, type: 'deposit', pool_id: 'aave-usdc', amount_minor: '250000000', count, ...parts }
}
