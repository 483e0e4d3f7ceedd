import type { EndUser, IdempotencyRecord, Portfolio, Transaction } from '../../src/domain/records.ts'

const ADDRESS = '0x00000000000000000000000000000000000A11cE'

/** Sorts as the number does, up to 9999. */
export const moment = (n: number) => new Date(Date.UTC(2025, 0, 1) + n).toISOString()

export function endUser(id: string, fields: Partial<EndUser> = {}): EndUser {
  return {
    id,
    tenant_id: 'acme',
    external_id: id,
    wallet_address: ADDRESS,
    funded: [],
    created_at: moment(0),
    ...fields,
  }
}

export function transaction(id: string, fields: Partial<Transaction> = {}): Transaction {
  return {
    id,
    tenant_id: 'acme',
    end_user_id: 'alice',
    portfolio_id: 'jar_1',
    type: 'deposit',
    amount_changed: '1',
    yield_delta: '0',
    deposited_amount_before: '0',
    deposited_amount_after: '1',
    yield_earned_before: '0',
    yield_earned_after: '0',
    tx_hash: '0x00',
    idempotency_id: null,
    created_at: moment(0),
    ...fields,
  }
}

export function idempotencyRecord(id: string, fields: Partial<IdempotencyRecord> = {}): IdempotencyRecord {
  return { id, fingerprint: 'abc', status: 200, body: { id }, created_at_ms: 0, ...fields }
}

export function portfolio(portfolio_id: string, fields: Partial<Portfolio> = {}): Portfolio {
  return {
    portfolio_id,
    tenant_id: 'acme',
    end_user_id: 'alice',
    pool_id: 'pool_1',
    name: 'Savings',
    description: null,
    protocol: 'aave',
    chain_id: '31337',
    token_symbol: 'USDC',
    token_decimals: 6,
    token_address: ADDRESS,
    market_address: ADDRESS,
    deposited: '0',
    yield_earned_realized: '0',
    yield_earned_synced: '0',
    last_transaction_id: null,
    shares: '0',
    compounding_enabled: true,
    created_at: moment(0),
    updated_at: moment(0),
    ...fields,
  }
}
