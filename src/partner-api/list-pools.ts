import { type Static, Type } from '@sinclair/typebox'
import type { ApiResponse } from '../domain/api-response.ts'
import { named, SPECIFICATION } from '../domain/described-schema.ts'
import { list } from '../domain/pagination.ts'
import type { Chain, MarketFigures } from '../domain/ports/chain.ts'
import type { Store } from '../domain/ports/store.ts'
import type { Pool, Tenant } from '../domain/records.ts'
import type { Service } from '../domain/service.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { defineEndpoint, type Endpoint } from './endpoint.ts'
import { Address, ChainId, Envelope, EXAMPLE_MARKET, examplePool, PageQuerystring, Protocol } from './schemas.ts'

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
        EXAMPLE_MARKET,
      ),
      apy: Type.String({ description: 'Current APY, a decimal fraction of one in a string.' }),
      tvl_usd: Type.String({ description: 'Total value locked in USD, a decimal number in a string.' }),
    }),
  )

/** spec: endpoint 1. GET /v1/partner/pools */
export function listPools(settings: ServiceSettings): Endpoint {
  const latest = new WeakMap<Tenant, KeptAnswer>()
  return defineEndpoint({
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
    handle({ tenant, query }, service) {
      const known = latest.get(tenant)
      if (known && isStillTrue(known, query, service)) return known.response
      return answer(tenant, query, service, (kept) => latest.set(tenant, kept))
    },
  })
}

/** The answer for a whole list, with what it was made from. Made again only when that has changed. */
interface KeptAnswer {
  store: Store
  sequence: number
  limit: number | undefined
  listed: readonly Listed[]
  /** Chains of these pools, each with its moment when the figures were last compared: until the next one, they need not be. */
  seen: readonly { chain: Chain; moment: object | undefined }[]
  response: ApiResponse
}

/** A pool and its market's figures, whose promise is the same while the figures are. */
interface Listed {
  pool: Pool
  figures: Promise<MarketFigures>
}

type Query = Static<typeof PageQuerystring>

/** @returns true if the answer for this query would be made of the same pools and figures again */
function isStillTrue(kept: KeptAnswer, query: Query, service: Service): boolean {
  const { store, sequence, limit, listed } = kept
  if (store !== service.store || sequence !== store.sequence) return false
  if (limit !== query.limit || query.starting_after !== undefined || query.ending_before !== undefined) return false
  if (kept.seen.every(({ chain, moment }) => moment !== undefined && moment === chain.marketMoment)) return true
  const seen = seenNow(kept.seen.map(({ chain }) => chain))
  if (!listed.every(({ pool, figures }) => figuresOf(pool, service) === figures)) return false
  kept.seen = seen
  return true
}

function seenNow(chains: readonly Chain[]): KeptAnswer['seen'] {
  return chains.map((chain) => ({ chain, moment: chain.marketMoment }))
}

async function answer(tenant: Tenant, query: Query, service: Service, keep: (kept: KeptAnswer) => void) {
  const { store } = service
  const { sequence } = store
  const { tenant_id: scope } = tenant
  const page = await list(service, { collection: 'pools', scope, cursor_scope: `pools/${scope}`, query })
  const seen = seenNow([...new Set(page.data.map((pool) => chainOf(pool, service)))])
  const listed = page.data.map((pool) => ({ pool, figures: figuresOf(pool, service) }))
  const body = { ...page, data: await Promise.all(listed.map(poolItem)) }
  const response = { status: 200, body, text: JSON.stringify(body) }
  // A cursor has the time of its issue in it.
  const isWhole = page.next_cursor === null && page.prev_cursor === null
  if (isWhole) keep({ store, sequence, limit: query.limit, listed, seen, response })
  return response
}

function figuresOf(pool: Pool, service: Service): Promise<MarketFigures> {
  return chainOf(pool, service).market(pool)
}

function chainOf({ chain_id }: Pool, { chains }: Service): Chain {
  const chain = chains.get(chain_id)
  if (!chain) throw new Error(`no chain ${chain_id}`)
  return chain
}

async function poolItem({ pool, figures }: Listed) {
  const { pool_id, protocol, chain_id, token_symbol, token_address, market_address } = pool
  const { apy, tvl_usd } = await figures
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
