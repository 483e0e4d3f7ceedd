import { Type } from '@sinclair/typebox'
import { from, named, openList, SPECIFICATION } from '../domain/described-schema.ts'
import type { Transaction, TransactionType } from '../domain/records.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { defineEndpoint } from './endpoint.ts'
import { pageOfEndUser } from './page-of-end-user.ts'
import {
  Amount,
  Difference,
  Envelope,
  ExternalIdParams,
  PageQuerystring,
  Timestamp,
  TransactionHash,
} from './schemas.ts'

/** Types that a record may have, and the rows of the fidelity manifest that add them. */
const TypeOf = ({ yield_harvest }: ServiceSettings) => {
  const types: readonly TransactionType[] = ['deposit', 'withdrawal', 'yield_harvest']
  const harvested = yield_harvest === 'recorded'
  return named(
    'TransactionType',
    openList(harvested ? types : types.filter((type) => type !== 'yield_harvest'), {
      description: 'An open list: live services have more, and a client must read one that it does not know.',
      ...from('transaction-fields', ...(harvested ? ['yield-harvest'] : [])),
    }),
  )
}

/** Fields of a yield_harvest beside those of every record. */
const harvestFields = {
  fx_rate_usd: Type.Optional(
    Type.String({
      description: 'Of a yield_harvest: USD for a whole token, a decimal number in a string.',
      examples: ['1.00'],
      ...from('yield-harvest'),
    }),
  ),
  aave_apy: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description:
        'Of a yield_harvest: apy of the pool, as the pool list had it before the transfer. Null unless the pool is one of Aave.',
      examples: ['0.041153'],
      ...from('yield-harvest'),
    }),
  ),
}

/** Fields beside tx_hash are assumption `transaction-fields`. */
const TransactionItem = (settings: ServiceSettings) =>
  named(
    'Transaction',
    Type.Object(
      {
        id: Type.String({ description: 'txn_ and a ULID.' }),
        portfolio_id: Type.String(),
        type: TypeOf(settings),
        amount_changed: Amount('What was moved; of a yield_harvest the yield.'),
        yield_delta: Difference('yield_earned_after − yield_earned_before; a rounding on chain may take a unit.'),
        deposited_amount_before: Amount('Principal before.'),
        deposited_amount_after: Amount('Principal after.'),
        yield_earned_before: Amount("As the portfolio's previous transaction left it."),
        yield_earned_after: Amount('As the response of deposit or withdraw shows it.'),
        tx_hash: TransactionHash,
        created_at: Timestamp('When the transaction was confirmed.'),
        timestamp: Timestamp('The same instant as created_at.'),
        ...(settings.yield_harvest === 'recorded' && harvestFields),
      },
      from('transaction-fields'),
    ),
  )

/** spec: endpoint 7. GET /v1/partner/end_users/{external_id}/transactions */
export const listTransactions = (settings: ServiceSettings) =>
  defineEndpoint({
    operation: 'list_transactions',
    method: 'GET',
    url: '/v1/partner/end_users/:external_id/transactions',
    user_token: true,
    idempotency: 'none',
    summary: 'List transactions',
    description: "The end user's confirmed transactions, newest first: created_at descending, then id descending.",
    params: ExternalIdParams,
    querystring: PageQuerystring,
    success: {
      status: 200,
      description: 'A page of transactions.',
      schema: Envelope('TransactionPage', TransactionItem(settings), 'transactions'),
      example: EXAMPLE,
      source: SPECIFICATION,
    },
    errors: ['validation_error', 'conflicting_cursors', 'cursor_invalid', 'cursor_expired', 'end_user_not_found'],
    assumptions: ['transaction-fields', 'transaction-visible', 'cursor-scope'],
    async handle(call, service) {
      const page = await pageOfEndUser('transactions', call, service)
      return { status: 200, body: { ...page, data: page.data.map(transactionItem) } }
    },
  })

function transactionItem(transaction: Transaction) {
  const { tenant_id: _tenant, end_user_id: _user, idempotency_id: _key, ...shown } = transaction
  return { ...shown, timestamp: shown.created_at }
}

const EXAMPLE = {
  data: [
    {
      id: 'txn_01JGX0Z5N8Q4R7T2V9W3Y6B1CD',
      portfolio_id: 'jar_01JGX0Z5N8Q4R7T2V9W3Y6B1CD',
      type: 'deposit',
      amount_changed: '2500000000',
      yield_delta: '0',
      deposited_amount_before: '0',
      deposited_amount_after: '2500000000',
      yield_earned_before: '0',
      yield_earned_after: '0',
      tx_hash: '0x8f1c2b348d5e4f709a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6071',
      created_at: '2026-01-02T03:04:05.678Z',
      timestamp: '2026-01-02T03:04:05.678Z',
    },
  ],
  has_more: false,
  next_cursor: null,
  prev_cursor: null,
}
