import { SPECIFICATION } from '../domain/described-schema.ts'
import { poolOf } from '../domain/portfolios.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { defineEndpoint } from './endpoint.ts'
import { pageOfEndUser } from './page-of-end-user.ts'
import { ListedPortfolio, listedPortfolio } from './portfolio-shape.ts'
import { Envelope, ExternalIdParams, examplePortfolio, PageQuerystring } from './schemas.ts'

/** spec: endpoint 4. GET /v1/partner/end_users/{external_id}/portfolios */
export const listPortfolios = (settings: ServiceSettings) =>
  defineEndpoint({
    operation: 'list_portfolios',
    method: 'GET',
    url: '/v1/partner/end_users/:external_id/portfolios',
    user_token: true,
    idempotency: 'none',
    summary: 'List portfolios',
    description: "The end user's portfolios, oldest first, with balances read from the chain.",
    params: ExternalIdParams,
    querystring: PageQuerystring,
    success: {
      status: 200,
      description: 'A page of portfolios.',
      schema: Envelope('PortfolioPage', ListedPortfolio(settings), 'portfolios'),
      example: exampleOf(settings),
      source: SPECIFICATION,
    },
    errors: [
      'validation_error',
      'conflicting_cursors',
      'cursor_invalid',
      'cursor_expired',
      'end_user_not_found',
      'chain_unavailable',
    ],
    assumptions: ['list-order', 'list-portfolio-fields', 'cursor-scope'],
    async handle(call, service) {
      const page = await pageOfEndUser('portfolios', call, service)
      const now = service.clock.iso()
      const valued = await service.portfolios.value(page.data)
      const data = await Promise.all(
        valued.map(async (item) => {
          const market = await service.chains.get(item.portfolio.chain_id)?.market(poolOf(item.portfolio))
          return listedPortfolio(item, market?.apy ?? '0', now)
        }),
      )
      const shows = valued.map(({ portfolio: { portfolio_id, last_transaction_id }, balances: { total_balance } }) => ({
        ...{ portfolio_id, last_transaction_id, total_balance },
      }))
      return { status: 200, body: { ...page, data }, shows }
    },
  })

function exampleOf(settings: ServiceSettings) {
  const { token_address, token_symbol, token_decimals, ...shared } = examplePortfolio(settings)
  return {
    data: [
      {
        ...shared,
        token: { symbol: token_symbol, address: token_address, decimals: token_decimals },
        apy_snapshot: 0.041153,
        total_gross_yield_earned: '0',
        total_fees_paid: '0',
        last_synced_at: '2026-01-02T03:04:05.678Z',
      },
    ],
    has_more: false,
    next_cursor: null,
    prev_cursor: null,
  }
}
