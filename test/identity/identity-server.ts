import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { Tenant } from '../../src/domain/records.ts'
import { DEFAULT_SETTINGS } from '../../src/domain/service-settings.ts'
import { Listener } from '../../src/http/listener.ts'
import { IdentityProvider } from '../../src/identity/identity-provider.ts'
import { identityRoutes } from '../../src/identity/identity-routes.ts'
import { UnknownKey } from '../../src/identity/sign-jwt.ts'

/** A demo key by name. */
export const demoKey = (name: string): string =>
  readFileSync(new URL(`../../fixtures/demo-keys/${name}.pem`, import.meta.url), 'utf8')

export const ACME: Tenant = {
  tenant_id: '11111111-1111-4111-8111-111111111111',
  slug: 'acme',
  client_id: 'acme-client',
  client_secret: 'p%ss:w+rd &ü',
  issuer: 'https://acme.example',
  user_keys: { jwks_uri: 'http://127.0.0.1:9/' },
  private_key_pem: demoKey('acme'),
  kid: 'acme-1',
  access: 'all',
}

export interface IdentityServer {
  app: FastifyInstance
  provider: IdentityProvider
  clock: SandboxClock
  baseUrl: string
  port: number
}

/** The identity provider on a free port, its issuer the address it listens on. */
export async function startIdentityServer(): Promise<IdentityServer> {
  const clock = new SandboxClock()
  const listener = await Listener.open({ host: '127.0.0.1', port: 0, publicUrl: undefined, tls: undefined })
  const { origin } = listener
  const provider = new IdentityProvider({
    privateKeyPem: demoKey('identity-provider'),
    kid: 'idp-1',
    origin,
    audience: DEFAULT_SETTINGS.audience,
    lifetime: DEFAULT_SETTINGS.idp_token_lifetime,
    clock,
    unknownKey: new UnknownKey(),
  })
  const findTenant = (_: unknown, clientId: string) => {
    if (clientId === 'broken-store') throw new Error('the store is broken')
    return clientId === ACME.client_id ? ACME : undefined
  }
  const tenantInAddress = async (_: unknown, written: string) =>
    written === ACME.tenant_id ? ACME.tenant_id : undefined
  const app = fastify()
  app.addHook('onRequest', async (request) => void Object.assign(request, { namespace: { name: 'default' } }))
  app.register(identityRoutes, { providerOf: () => provider, settings: DEFAULT_SETTINGS, findTenant, tenantInAddress })
  await listener.serve(app)
  const { port } = app.server.address() as AddressInfo
  return { app, provider, clock, baseUrl: origin.url, port }
}
