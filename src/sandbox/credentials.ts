import type { Credentials } from '../control/contract.ts'
import { scopeOf } from '../domain/audiences.ts'
import type { Origin } from '../domain/origin.ts'
import type { Tenant } from '../domain/records.ts'
import type { Service } from '../domain/service.ts'
import type { ResolvedOptions } from '../options.ts'

/** What of the sandbox as a whole the credentials tell. */
interface Sandboxed {
  origin: Origin
  /** What clients have to trust; undefined without a self-signed certificate. */
  caFile: string | undefined
  seed: number
  options: Pick<ResolvedOptions, 'controlToken'>
}

/** What a client needs to connect: addresses, and the secrets and keys of every tenant. */
export async function credentialsOf(
  { store, settings, chains }: Service,
  tenants: readonly Tenant[],
  { origin, caFile, seed, options }: Sandboxed,
): Promise<Credentials> {
  const limit = Number.MAX_SAFE_INTEGER
  const shown = tenants.map(async (tenant) => {
    const { slug, tenant_id, client_id, client_secret, issuer, kid = null, private_key_pem = null } = tenant
    const users = await store.page('end_users', { scope: tenant_id, limit })
    const end_users = users.items.map(({ external_id }) => external_id)
    return { slug, tenant_id, client_id, client_secret, issuer, kid, private_key_pem, end_users }
  })
  return {
    base_url: `${origin.url}${settings.base_path}`,
    auth_url: `${origin.url}/oauth2/token`,
    control_url: `${origin.url}/_sandbox`,
    rpc_urls: Object.fromEntries(chains.all().map(({ chain_id }) => [chain_id, `${origin.url}/rpc/${chain_id}`])),
    audience: settings.audience,
    scope: scopeOf(settings.audience),
    seed,
    ...(caFile !== undefined && { ca_file: caFile }),
    ...(options.controlToken !== undefined && { control_token: options.controlToken }),
    tenants: await Promise.all(shown),
  }
}
