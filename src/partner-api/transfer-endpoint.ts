import { Type } from '@sinclair/typebox'
import type { ApiResponse } from '../domain/api-response.ts'
import { from, named } from '../domain/described-schema.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { TransferType } from '../domain/records.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import type { SettledTransfer } from '../domain/settle-transfer.ts'
import { defineEndpoint } from './endpoint.ts'
import { flatFields, flatPortfolio } from './portfolio-shape.ts'
import { AmountToMove, ExternalIdParams, examplePortfolio, TransactionHash } from './schemas.ts'

const TransferBody = named(
  'TransferRequest',
  Type.Object({
    portfolio_id: Type.String({
      minLength: 1,
      description: 'The portfolio to move funds in or out of.',
      ...from('portfolio-id-form'),
    }),
    amount_minor: AmountToMove("Amount in the token's minor units, a digit string above zero."),
  }),
)

/** The flat portfolio after the transaction, and the transaction's id and hash. Assumption `transfer-response`. */
const TransferResult = (settings: ServiceSettings) =>
  named(
    'TransferResult',
    Type.Object(
      {
        tx_hash: TransactionHash,
        transaction_id: Type.String({ description: 'Id of the transaction in the list.' }),
        ...flatFields(settings),
      },
      from('transfer-response'),
    ),
  )

/** Parts that deposit and withdraw share: headers, body, response shape and rules are the same (spec: endpoint 6). */
export function transferEndpoint(
  settings: ServiceSettings,
  own: {
    operation: 'deposit' | 'withdraw'
    type: TransferType
    summary: string
    description: string
    /** Errors beyond those of both. */
    errors?: readonly ErrorCode[]
    assumptions?: readonly string[]
  },
) {
  const status = settings.transfer_status
  return defineEndpoint({
    operation: own.operation,
    method: 'POST',
    url: `/v1/partner/end_users/:external_id/${own.operation}`,
    user_token: true,
    idempotency: 'required',
    summary: own.summary,
    description: own.description,
    params: ExternalIdParams,
    body: TransferBody,
    bodyExample: ({ portfolio_id }) => ({ portfolio_id, amount_minor: '1000000' }),
    success: {
      status,
      description: 'The transaction is confirmed.',
      schema: TransferResult(settings),
      example: exampleOf(settings),
      source: 'transfer-status',
    },
    errors: [
      'validation_error',
      'end_user_not_found',
      'portfolio_not_found',
      'insufficient_balance',
      ...(own.errors ?? []),
      'transaction_reverted',
      'chain_unavailable',
    ],
    assumptions: ['transfer-status', 'transfer-response', 'transfer-errors', 'wallet', ...(own.assumptions ?? [])],
    async handle({ tenant, params, body, claim, onPhase, onStep }, { endUsers, transfers }) {
      const user = await endUsers.require(tenant, params.external_id)
      return transfers.run({
        type: own.type,
        user,
        portfolio_id: body.portfolio_id,
        amount: BigInt(body.amount_minor),
        ...(claim && { claim }),
        onPhase,
        onStep,
      })
    },
  })
}

const exampleOf = (settings: ServiceSettings) => ({
  tx_hash: '0x8f1c2b348d5e4f709a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6071',
  transaction_id: 'txn_01JGX0Z5N8Q4R7T2V9W3Y6B1CD',
  ...examplePortfolio(settings),
  deposited: '2500000000',
  total_balance: '2500000000',
})

/** The answer to a settled transfer, also for a request that is no longer there. Assumption `transfer-response`. */
export const transferResponse =
  ({ transfer_status }: ServiceSettings) =>
  (settled: SettledTransfer): ApiResponse => {
    const { tx_hash, id } = settled.transaction
    return { status: transfer_status, body: { tx_hash, transaction_id: id, ...flatPortfolio(settled) } }
  }
