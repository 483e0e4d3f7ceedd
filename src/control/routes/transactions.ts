import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { invalidParameters, Problem } from '../../domain/errors.ts'
import { MAX_LIMIT } from '../../domain/pagination.ts'
import { shorten } from '../../support/foreign-text.ts'
import { controlOf } from '../control-parts.ts'
import { TransactionDetailSchema, TransactionPageSchema } from '../transaction-schemas.ts'

const LIMIT = 50

const Query = Type.Object(
  {
    chain_id: Type.Optional(
      Type.String({ minLength: 1, description: 'The chain. Default: the first one.', examples: ['31337'] }),
    ),
    before: Type.Optional(
      Type.String({
        pattern: '^(0|[1-9][0-9]{0,14})([.][0-9]{1,9})?$',
        title: 'the next_before of a page',
        description: 'next_before of the page before, or the number of a block: those below it.',
        examples: ['15'],
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_LIMIT, description: `Most transactions. Default: ${LIMIT}.` }),
    ),
  },
  { additionalProperties: false },
)

const Params = Type.Object({
  tx_hash: Type.String({
    pattern: '^0x[0-9a-fA-F]{64}$',
    title: '0x and 64 hexadecimal digits',
    description: 'Hash of the transaction.',
    examples: [`0x${'5c'.repeat(32)}`],
  }),
})

const tags = ['Control']

/** The transactions of the chains, in words. */
export async function transactionRoutes(app: FastifyInstance): Promise<void> {
  app.get<{ Querystring: Static<typeof Query> }>(
    '/transactions',
    {
      schema: {
        tags,
        operationId: 'list_chain_transactions',
        summary: 'What happened on a chain, in words, newest first',
        querystring: Query,
        response: { 200: TransactionPageSchema },
      },
      config: { errors: ['validation_error', 'sandbox_starting'] },
    },
    async (request) => {
      const page = await controlOf(request).transactions({ limit: LIMIT, ...request.query })
      if (page) return page
      const detail = `there is no chain "${shorten(request.query.chain_id ?? '')}"; GET credentials lists those there are`
      throw invalidParameters([{ param: 'chain_id', detail }])
    },
  )
  app.get<{ Params: Static<typeof Params> }>(
    '/transactions/:tx_hash',
    {
      schema: {
        tags,
        operationId: 'get_chain_transaction',
        summary: 'One transaction in words: call, events, reason of a revert',
        params: Params,
        response: { 200: TransactionDetailSchema },
      },
      config: { errors: ['validation_error', 'transaction_not_found', 'chain_unavailable', 'sandbox_starting'] },
    },
    async (request) => {
      const { tx_hash } = request.params
      const transaction = await controlOf(request).transaction(tx_hash)
      if (transaction) return transaction
      throw new Problem('transaction_not_found', { detail: `No chain has a transaction ${tx_hash}.`, param: 'tx_hash' })
    },
  )
}
