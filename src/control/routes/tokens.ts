import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { from, named } from '../../domain/described-schema.ts'
import { Problem } from '../../domain/errors.ts'
import { type ControlDeps, controlOf, requireTenant, type SandboxControl } from '../control-parts.ts'
import { oneOf } from '../schema-parts.ts'
import { MintedTokenSchema } from '../schemas.ts'

const HUNDRED_YEARS = 100 * 365 * 24 * 60 * 60

const wish = {
  claims: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Replace claims; null removes.' })),
  header: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Replace header members.' })),
  expires_in: Type.Optional(
    Type.Integer({
      minimum: -HUNDRED_YEARS,
      maximum: HUNDRED_YEARS,
      description: 'Seconds; negative for a token that has expired.',
    }),
  ),
  key: Type.Optional(oneOf(['registered', 'unknown'], 'unknown: a key nobody registered.')),
}
const Params = Type.Object({ slug: Type.String({ examples: ['acme'] }) })
const strict = { additionalProperties: false, ...from('sandbox-routes') }
const UserTokenWish = named(
  'UserTokenRequest',
  Type.Object(
    { external_id: Type.String({ examples: ['alice'] }), ...wish },
    { ...strict, examples: [{ external_id: 'alice' }] },
  ),
)
const IdpTokenWish = named('IdpTokenRequest', Type.Object(wish, { ...strict, examples: [{}] }))

type KeyChoice = 'registered' | 'unknown'
type Wish<T> = Omit<T, 'key'> & { key?: KeyChoice }

/** Mints tokens, good or bad on purpose. */
export async function tokenRoutes(app: FastifyInstance, { sandboxOf }: ControlDeps): Promise<void> {
  const schema = { tags: ['Control'], params: Params, response: { 201: MintedTokenSchema } }
  const config = { errors: ['tenant_not_found'] } as const
  app.post<{ Params: Static<typeof Params>; Body: Wish<Static<typeof UserTokenWish>> }>(
    '/tenants/:slug/user_tokens',
    {
      schema: { ...schema, operationId: 'mint_user_token', summary: 'Mint a user token', body: UserTokenWish },
      config,
    },
    async (request, reply) => {
      const control = controlOf(request)
      const tenant = await requireTenant(control, request.params.slug)
      return reply.code(201).send(await control.mintUserToken(tenant, request.body))
    },
  )
  app.post<{ Params: Static<typeof Params>; Body: Wish<Static<typeof IdpTokenWish>> }>(
    '/tenants/:slug/idp_tokens',
    {
      schema: {
        ...schema,
        operationId: 'mint_idp_token',
        summary: 'Mint an identity-provider token',
        body: IdpTokenWish,
      },
      config,
    },
    async (request, reply) => {
      await refuseOthersClient(request, request.body.claims?.appid, sandboxOf(request))
      const control = controlOf(request)
      const tenant = await requireTenant(control, request.params.slug)
      return reply.code(201).send(await control.mintIdpToken(tenant, request.body))
    },
  )
}

/**
 * The identity provider is that of all namespaces, and `appid` leads a token to one of them: with the control token of a namespace nobody
 * gets a token for another one. Throws Problem control_forbidden.
 */
async function refuseOthersClient(
  { limitedTo }: FastifyRequest,
  appid: unknown,
  { namespaceOfClient }: Pick<SandboxControl, 'namespaceOfClient'>,
): Promise<void> {
  if (limitedTo === null || typeof appid !== 'string') return
  const namespace = await namespaceOfClient(appid)
  if (namespace === undefined || namespace === limitedTo) return
  const detail = `The appid is a client of another namespace, and this is the control token of "${limitedTo}": leave claims.appid out, or send the control token of the sandbox.`
  throw new Problem('control_forbidden', { detail, param: 'claims.appid' })
}
