import { Type } from '@sinclair/typebox'
import { named, SPECIFICATION } from '../domain/described-schema.ts'
import { list } from '../domain/pagination.ts'
import type { Pool } from '../domain/records.ts'
import type { Service } from '../domain/service.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { defineEndpoint } from './endpoint.ts'
import { examplePool } from './examples.ts'
import { Address, ChainId, Envelope, PageQuerystring, Protocol } from './schemas.ts'

/** spec: Pool (item of GET /v1/partner/pools) */
const PoolItem = (settings: ServiceSettings) =>
  named(
    'Pool',
    Type.Object({
      pool_id: Type.String({ description: 'Pool identifier.' }),
      protocol: Protocol(settings),
      chain_id: ChainId,
      token_symbol: Type.String({ description: 'Symbol of the underlying token.' }),
      token_address: Address('The underlying ERC-20 token.'),
      market_address: Address(
        'Pool or vault contract; pass it verbatim when creating a portfolio. Not the token address.',
      ),
      apy: Type.String({ description: 'Current APY, a decimal fraction of one in a string.' }),
      tvl_usd: Type.String({ description: 'Total value locked in USD, a decimal number in a string.' }),
    }),
  )

/** spec: endpoint 1. GET /v1/partner/pools */
export const listPools = (settings: ServiceSettings) =>
  defineEndpoint({
    operation: 'list_pools',
    method: 'GET',
    url: '/v1/partner/pools',
    user_token: false,
    idempotency: 'none',
    summary: 'List pools',
    description: 'The pools the calling tenant may use. Needs the identity-provider token only.',
    querystring: PageQuerystring,
    success: {
      status: 200,
      description: 'A page of pools.',
      schema: Envelope('PoolPage', PoolItem(settings), 'pools'),
      example: exampleOf(settings),
      source: SPECIFICATION,
    },
    errors: ['validation_error', 'conflicting_cursors', 'cursor_invalid', 'cursor_expired', 'chain_unavailable'],
    assumptions: ['list-order', 'cursor-scope'],
    async handle({ tenant, query }, service) {
      const page = await list(service, {
        collection: 'pools',
        scope: tenant.tenant_id,
        cursor_scope: `pools/${tenant.tenant_id}`,
        query,
      })
      const data = await Promise.all(page.data.map((pool) => poolItem(pool, service)))
      return { status: 200, body: { ...page, data } }
    },
  })

async function poolItem(pool: Pool, service: Service) {
  const { pool_id, protocol, chain_id, token_symbol, token_address, market_address } = pool
  const chain = service.chains.get(chain_id)
  if (!chain) throw new Error(`no chain ${chain_id}`)
  const { apy, tvl_usd } = await chain.market(pool)
  return { pool_id, protocol, chain_id, token_symbol, token_address, market_address, apy, tvl_usd }
}

const exampleOf = (settings: ServiceSettings) => ({
  data: [
    { pool_id: 'aave-usdc', ...examplePool(settings), token_symbol: 'USDC', apy: '0.041153', tvl_usd: '100000000.00' },
  ],
  has_more: false,
  next_cursor: null,
  prev_cursor: null,
})
