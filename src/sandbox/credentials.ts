import type { Credentials } from '../control/contract.ts'
import { directoryIdOf, scopeOf } from '../domain/idp-claims.ts'
import { DEFAULT_NAMESPACE } from '../domain/namespace-name.ts'
import type { Operation } from '../domain/operations.ts'
import type { Namespace } from './namespace.ts'
import type { Surroundings } from './surroundings.ts'

/** Credentials for a namespace: its addresses, and the secrets and keys of every tenant. */
export async function credentialsOf(
  namespace: Namespace,
  { origin, caFile, options }: Pick<Surroundings, 'origin' | 'caFile' | 'options'>,
): Promise<Credentials> {
  const { name, seed } = namespace
  const { store, settings, chains } = namespace.services.service
  const limit = Number.MAX_SAFE_INTEGER
  const shown = (await namespace.tenants()).map(async (tenant) => {
    const { slug, tenant_id, client_id, client_secret, issuer, kid = null, private_key_pem = null } = tenant
    const users = await store.page('end_users', { scope: tenant_id, limit })
    const end_users = users.items.map(({ external_id }) => external_id)
    const directory_id = directoryIdOf(tenant_id)
    return { slug, tenant_id, directory_id, client_id, client_secret, issuer, kid, private_key_pem, end_users }
  })
  const { url } = origin
  const control_token = namespace.controlToken ?? options.controlToken
  const isDefault = name === DEFAULT_NAMESPACE
  const rpc = isDefault ? `${url}/rpc` : `${url}/rpc/${name}`
  const { rpcKey } = namespace.http
  const query = rpcKey === undefined ? '' : `?key=${rpcKey}`
  return {
    namespace: name,
    base_url: `${url}${settings.base_path}`,
    auth_url: `${url}/oauth2/token`,
    control_url: isDefault ? `${url}/_sandbox` : `${url}/_sandbox/namespaces/${name}`,
    rpc_urls: Object.fromEntries(chains.all().map(({ chain_id }) => [chain_id, `${rpc}/${chain_id}${query}`])),
    audience: settings.audience,
    scope: scopeOf(settings.audience),
    seed,
    ...(caFile !== undefined && { ca_file: caFile }),
    ...(control_token !== undefined && { control_token }),
    tenants: await Promise.all(shown),
  }
}

/** Operations that {@link withFirstRequests} needs. */
const NEEDED: readonly Operation[] = ['create_end_user', 'create_portfolio', 'deposit']

/** Adds a first deposit to each tenant that can make one: with a pool, access, and a private key that mints its user tokens. */
export async function withFirstRequests(
  { tenants, ...rest }: Credentials,
  { services: { service } }: Namespace,
): Promise<Credentials> {
  // Loaded at the first request: most runs never need it.
  const { firstRequest } = await import('./first-request.ts')
  const added = tenants.map(async (shown) => {
    const tenant = await service.store.get('tenants', shown.tenant_id)
    const access = tenant?.access ?? []
    const may = access === 'all' || NEEDED.every((operation) => access.includes(operation))
    const [pool] = (await service.store.page('pools', { scope: shown.tenant_id, limit: 1 })).items
    const can = pool && may && shown.private_key_pem !== null
    return can ? { ...shown, first_request: firstRequest(rest, shown, pool) } : shown
  })
  return { ...rest, tenants: await Promise.all(added) }
}
