import { Type } from '@sinclair/typebox'
import { from, named, SPECIFICATION } from '../domain/described-schema.ts'
import { requirePool } from '../domain/pools.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { LINE_FORM } from '../domain/text-form.ts'
import { defineEndpoint } from './endpoint.ts'
import { FlatPortfolio, flatPortfolio } from './portfolio-shape.ts'
import { Address, ChainId, EXAMPLE_MARKET, ExternalIdParams, examplePortfolio, Omissible, Protocol } from './schemas.ts'

/** spec: endpoint 3. POST /v1/partner/end_users/{external_id}/portfolios */
export const createPortfolio = (settings: ServiceSettings) =>
  defineEndpoint({
    operation: 'create_portfolio',
    method: 'POST',
    url: '/v1/partner/end_users/:external_id/portfolios',
    user_token: true,
    idempotency: 'required',
    summary: 'Create a portfolio',
    description: 'Creates a portfolio for the end user on one pool. It starts with zero funds.',
    params: ExternalIdParams,
    body: named(
      'CreatePortfolioRequest',
      Type.Object({
        name: Type.String({
          minLength: 1,
          maxLength: 50,
          pattern: LINE_FORM.pattern,
          description: '1 to 50 characters, none of them a control character.',
          examples: ['Rainy day'],
          ...from(SPECIFICATION, 'control-characters', 'lengths'),
        }),
        chain_id: ChainId,
        token_address: Address('Underlying token, from the pool list.'),
        market_address: Address('Pool or vault, from the pool list. Not token_address.', EXAMPLE_MARKET),
        protocol: Omissible(Protocol(settings), {
          default: settings.protocols[0],
          description: 'Must match the protocol of market_address.',
        }),
        description: Omissible(Type.String({ maxLength: 500, ...from(SPECIFICATION, 'lengths') }), {
          description: 'At most 500 characters.',
        }),
      }),
    ),
    bodyExample: ({ pool }) => ({ name: 'Rainy day', ...pool }),
    success: {
      status: 201,
      description: 'The new portfolio.',
      schema: FlatPortfolio(settings),
      example: examplePortfolio(settings),
      source: SPECIFICATION,
    },
    errors: ['validation_error', 'end_user_not_found', 'pool_not_found'],
    async handle({ tenant, params, body, claim }, service) {
      const user = await service.endUsers.require(tenant, params.external_id)
      const { name, description } = body
      const protocol = body.protocol ?? settings.protocols[0]
      const pool = await requirePool(service.store, tenant, { ...body, protocol })
      const wish = { name, ...(typeof description === 'string' && { description }) }
      const created = await service.portfolios.create(user, pool, wish, async (valued) =>
        claim ? service.idempotency.keep(claim, { status: 201, body: flatPortfolio(valued) }) : [],
      )
      return { status: 201, body: flatPortfolio(created) }
    },
  })
