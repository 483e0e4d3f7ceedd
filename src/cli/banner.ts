import type { Credentials } from '../control/contract.ts'

/** What a person sees when the sandbox is ready: where everything is, and a first request to paste. */
export function banner(credentials: Credentials): string {
  const { base_url, auth_url, control_url, rpc_urls, scope, seed, ca_file, control_token, tenants } = credentials
  const [tenant] = tenants
  const rows: [string, string][] = [
    ['Base URL', base_url],
    ['Token URL', auth_url],
    ['Docs', new URL('/docs', auth_url).href],
    ['Control', control_url],
    ...Object.entries(rpc_urls).map(([chainId, url]): [string, string] => [`RPC ${chainId}`, url]),
    ['Seed', String(seed)],
    ...(ca_file === undefined ? [] : ([['CA file', ca_file]] as [string, string][])),
    ...(control_token === undefined ? [] : ([['Control token', control_token]] as [string, string][])),
  ]
  if (tenant) {
    rows.push(['Tenant', tenant.slug], ['Client id', tenant.client_id], ['Client secret', tenant.client_secret])
    rows.push(['End users', tenant.end_users.join(', ') || 'none yet'])
  }
  const lines = rows.map(([name, value]) => `  ${`${name}:`.padEnd(15)}${value}`)
  const curl = ca_file === undefined ? 'curl -s' : `curl -s --cacert '${ca_file.replaceAll("'", `'\\''`)}'`
  const first = tenant
    ? `
  Try it (a token, then the pools):

TOKEN=$(${curl} ${auth_url} -d grant_type=client_credentials -d client_id=${tenant.client_id} -d client_secret=${tenant.client_secret} -d scope=${scope} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
${curl} ${base_url}/v1/partner/pools -H "Authorization: Bearer $TOKEN"
`
    : ''
  return `\n  yield-sandbox is ready.\n\n${lines.join('\n')}\n${first}`
}
