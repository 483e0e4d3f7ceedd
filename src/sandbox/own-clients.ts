import type { KeptNamespace } from '../data-dir/namespace-folders.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import { SeededRandom } from '../support/random.ts'

type Clients = KeptNamespace['clients']

/** Gives every tenant new credentials. These choose a request's namespace, so no two namespaces may share them. */
export function withOwnClients(fixture: Fixture): Fixture {
  return withClients(fixture, () => ({ client_id: SeededRandom.freshUuid(), client_secret: SeededRandom.secret() }))
}

/** The fixture with the clients that a namespace was made with; a tenant added since keeps the fixture's. */
export function withKeptClients(fixture: Fixture, clients: Clients): Fixture {
  return withClients(fixture, (tenantId) => {
    const { client_id, client_secret } = clients[tenantId] ?? {}
    return client_id === undefined || client_secret === undefined ? {} : { client_id, client_secret }
  })
}

/** The clients of a fixture, in their stored form. */
export function clientsOf({ tenants }: Fixture): Clients {
  return Object.fromEntries(
    tenants.map(({ tenant: { tenant_id, slug, client_id, client_secret } }) => [
      tenant_id,
      { slug, client_id, client_secret },
    ]),
  )
}

function withClients(
  fixture: Fixture,
  clientOf: (tenantId: string) => { client_id?: string; client_secret?: string },
): Fixture {
  const tenants = fixture.tenants.map((one) => ({
    ...one,
    tenant: { ...one.tenant, ...clientOf(one.tenant.tenant_id) },
  }))
  return { ...fixture, tenants }
}
