import { Type } from '@sinclair/typebox'
import { from, named } from '../domain/described-schema.ts'
import { Problem } from '../domain/errors.ts'
import type { Tenant } from '../domain/records.ts'
import type { Service } from '../domain/service.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { defineEndpoint } from './endpoint.ts'
import { Address, EXAMPLE_WALLET, ExternalId, Omissible, Timestamp } from './schemas.ts'

const DESCRIPTION = 'A user token whose sub is external_id; verified when present.'

const EndUserRecord = (settings: ServiceSettings) =>
  named(
    'EndUser',
    Type.Object(
      {
        id: Type.String({ description: 'usr_ and a ULID.' }),
        external_id: ExternalId(settings),
        tenant_id: Type.String(),
        tenant_slug: Type.String(),
        user_source: Type.Literal('partner'),
        wallet_address: Address("The end user's wallet, the same on every chain.", EXAMPLE_WALLET),
        created_at: Timestamp('When the end user was created.'),
      },
      from('create-end-user'),
    ),
  )

/** spec: endpoint 2. POST /v1/partner/end_users. All of it is assumption `create-end-user`. */
export const createEndUser = (settings: ServiceSettings) =>
  defineEndpoint({
    operation: 'create_end_user',
    method: 'POST',
    url: '/v1/partner/end_users',
    user_token: false,
    idempotency: settings.end_user_idempotency_key,
    summary: 'Create an end user',
    description: 'Repeating a known external_id answers with the existing record.',
    body: named(
      'CreateEndUserRequest',
      Type.Object({
        external_id: ExternalId(settings),
        user_jwt:
          settings.end_user_jwt === 'required'
            ? Type.String({ description: DESCRIPTION })
            : Omissible(Type.String(), { description: DESCRIPTION }),
      }),
    ),
    bodyExample: ({ external_id }) => ({
      external_id,
      ...(settings.end_user_jwt === 'required' && { user_jwt: 'a user token whose sub is the external_id' }),
    }),
    success: {
      status: 201,
      description: 'The end user.',
      schema: EndUserRecord(settings),
      example: EXAMPLE,
      source: 'create-end-user',
    },
    errors: ['validation_error', 'invalid_user_token', 'sub_url_mismatch', 'chain_unavailable'],
    assumptions: ['create-end-user', 'wallet'],
    async handle({ tenant, body, claim }, service) {
      if (typeof body.user_jwt === 'string') await checkUserJwt(body.user_jwt, body.external_id, tenant, service)
      const { id, external_id, tenant_id, wallet_address, created_at } = await service.endUsers.create(
        tenant,
        body.external_id,
      )
      const response = {
        status: 201,
        body: {
          id,
          external_id,
          tenant_id,
          tenant_slug: tenant.slug,
          user_source: 'partner',
          wallet_address,
          created_at,
        },
      }
      if (claim) await service.store.commit(await service.idempotency.keep(claim, response))
      return response
    },
  })

async function checkUserJwt(token: string, externalId: string, tenant: Tenant, service: Service): Promise<void> {
  const { sub } = await service.verifyUserToken(token, tenant).catch((error: unknown) => {
    throw error instanceof Problem ? new Problem(error.code, { ...error.details, param: 'user_jwt' }) : error
  })
  if (sub === externalId) return
  throw new Problem('sub_url_mismatch', { detail: 'The sub claim of user_jwt is not external_id.', param: 'user_jwt' })
}

const EXAMPLE = {
  id: 'usr_01JGX0Z5N8Q4R7T2V9W3Y6B1CD',
  external_id: 'alice',
  tenant_id: '6f1c2b34-8d5e-4f70-9a1b-2c3d4e5f6071',
  tenant_slug: 'acme',
  user_source: 'partner',
  wallet_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  created_at: '2026-01-02T03:04:05.678Z',
}
