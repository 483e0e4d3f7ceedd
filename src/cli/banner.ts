import { relative } from 'node:path'
import type { Credentials } from '../control/contract.ts'
import { shellWords } from '../support/foreign-text.ts'

/** Three commands to try next, and the purpose of each. */
const NEXT: readonly (readonly [command: string, purpose: string])[] = [
  ['exec -- npm test', 'your tests against a sandbox of their own, and what your client does wrong'],
  ['explore -- npm test', 'your tests once for every fault at every request, judged by the money'],
  ['requests list', 'what your client has sent to this sandbox, and what became of it'],
]

/** What the {@link banner} shows beside credentials. */
interface BannerParts {
  /** The command that runs this program, which in a clone is not on the PATH. */
  own?: string
  /** Address of the inspector; undefined if it is switched off. */
  inspector?: string | undefined
}

/** The text for a person when the sandbox is ready: its addresses, a first request to paste, and commands to try next. */
export function banner(credentials: Credentials, { own = 'yield-sandbox', inspector }: BannerParts = {}): string {
  const { base_url, auth_url, control_url, rpc_urls, scope, seed, ca_file, control_token, tenants } = credentials
  const [tenant] = tenants
  const rows: [string, string][] = [
    ...(inspector === undefined ? [] : ([['Inspector', inspector]] as [string, string][])),
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
  const next = NEXT.map(([command, purpose]) => `    ${`${own} ${command}`.padEnd(own.length + 23)}${purpose}`)
  return `\n  yield-sandbox is ready.\n\n${lines.join('\n')}\n${first}\n  Next:\n\n${next.join('\n')}\n`
}

/** The command that runs this program, which was started as `path`, from `directory`. */
export function ownCommand(path: string, directory: string): string {
  if (/[\\/]node_modules[\\/]/.test(path)) return 'npx yield-sandbox'
  return path.endsWith('.js') ? shellWords(['node', relative(directory, path)]) : 'yield-sandbox'
}
