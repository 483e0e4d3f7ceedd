import type { PublicActions, TestClient } from 'viem'
import type { ActiveFault, Credentials, FaultRule, TenantCredentials } from './control/contract.ts'
import type { SandboxClock } from './domain/clock.ts'
import { Problem } from './domain/errors.ts'
import { mintUserToken } from './identity/mint-user-token.ts'
import type { SandboxOptions } from './options.ts'
import { Sandbox } from './sandbox.ts'

export type { ActiveFault, Credentials, FaultRule, TenantCredentials } from './control/contract.ts'
export { FixtureError } from './fixtures/fixture-error.ts'
export { OptionError, type SandboxLogger, type SandboxOptions } from './options.ts'

/** A viem client that reads the chain and commands Anvil. */
export type ChainClient = TestClient & PublicActions

/** A running sandbox. Stops itself at the end of an `await using` block. */
export interface SandboxHandle extends AsyncDisposable {
  readonly baseUrl: string
  readonly authUrl: string
  readonly controlUrl: string
  readonly seed: number
  readonly tenants: TenantCredentials[]
  /** A viem client of the fixture's first chain: public actions, and Anvil's own. */
  readonly chain: ChainClient
  /** The same of every chain, by chain id. */
  readonly chains: Readonly<Record<string, ChainClient>>
  /** Business time. */
  readonly clock: Pick<SandboxClock, 'now' | 'iso' | 'advance' | 'freeze' | 'unfreeze' | 'frozen'>
  readonly faults: {
    /** Throws when a rule is not sound. */
    add(...rules: FaultRule[]): ActiveFault[]
    list(): ActiveFault[]
    /** Resolves when everything that faults had broken is mended. */
    clear(): Promise<void>
  }
  credentials(): Promise<Credentials>
  /** A user token of the first tenant, or of the one named by slug. */
  userToken(externalId: string, tenant?: string): Promise<string>
  reset(): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts a sandbox in this process and resolves when it can serve. Installs no signal handlers.
 * Throws OptionError, FixtureError, or the operating system's error about the port; nothing is left running then.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<SandboxHandle> {
  const sandbox = await Sandbox.listen(options)
  try {
    await sandbox.ready
    return await handleOf(sandbox)
  } catch (error) {
    await sandbox.stop()
    throw error
  }
}

async function handleOf(sandbox: Sandbox): Promise<SandboxHandle> {
  const { service, faults, unknownKey } = sandbox.parts
  const { clock, settings } = service
  const credentials = await sandbox.credentials()
  const clients = await chainClients(sandbox, credentials)
  const [first] = service.chains.all()
  const chain = first && clients[first.chain_id]
  if (!chain) throw new Error('a sandbox has a chain')
  const slugs = credentials.tenants.map(({ slug }) => slug)
  return {
    baseUrl: credentials.base_url,
    authUrl: credentials.auth_url,
    controlUrl: credentials.control_url,
    seed: credentials.seed,
    tenants: credentials.tenants,
    chain,
    chains: clients,
    clock,
    faults: {
      add: (...rules) => faults.add(rules, slugs),
      list: () => faults.list(),
      clear() {
        faults.clear()
        return faults.mended()
      },
    },
    credentials: () => sandbox.credentials(),
    async userToken(external_id, slug = slugs[0] ?? '') {
      const tenant = await service.store.find('tenants', 'slug', slug)
      if (!tenant) throw new Problem('tenant_not_found', { detail: `There is no tenant "${slug}".`, param: 'tenant' })
      return (await mintUserToken(tenant, { external_id }, { audience: settings.audience, clock, unknownKey })).token
    },
    reset: () => sandbox.reset(),
    stop: () => sandbox.stop(),
    [Symbol.asyncDispose]: () => sandbox.stop(),
  }
}

/** viem is loaded here, after the chains have started: it is the slowest import and the command line does not need it. */
async function chainClients(sandbox: Sandbox, { rpc_urls }: Credentials): Promise<Record<string, ChainClient>> {
  const { createTestClient, http, publicActions } = await import('viem')
  const client = (url: string) =>
    createTestClient({ mode: 'anvil', transport: http(url, { fetchFn: sandbox.fetch }) }).extend(publicActions)
  return Object.fromEntries(Object.entries(rpc_urls).map(([chainId, url]) => [chainId, client(url)]))
}
