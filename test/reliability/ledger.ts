import { expect } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import type { Credentials, NamespaceWish } from '../../src/control/contract.ts'
import type { EndUser, Pool, Portfolio, Tenant, Transaction } from '../../src/domain/records.ts'
import { UnknownKey } from '../../src/identity/sign-jwt.ts'
import type { SandboxOptions } from '../../src/index.ts'
import type { Namespace } from '../../src/sandbox/namespace.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { onDatabase } from '../helpers/on-database.ts'
import { Partner } from '../helpers/partner.ts'

/** A namespace with its inside within reach, and a partner's client of it. */
export interface OpenNamespace {
  sandbox: Pick<Sandbox, 'namespace' | 'baseUrl'>
  control: ControlClient
  acme: Partner
  tenant: Tenant
  stop(): Promise<void>
}

/** A sandbox, seen through its first namespace. */
export interface OpenSandbox extends OpenNamespace {
  sandbox: Sandbox
}

/** Starts one on free ports with instant confirmation and a fixed seed, unless the options say otherwise. */
export async function openSandbox(options: SandboxOptions = {}): Promise<OpenSandbox> {
  const sandbox = await Sandbox.listen(onDatabase({ port: 0, confirmationDelay: 0, seed: 7, ...options }))
  await sandbox.ready
  const { baseUrl, namespace, fetch } = sandbox
  const control = new ControlClient(baseUrl, { controlToken: sandbox.options.controlToken, fetch })
  const client = await clientOf(namespace, await sandbox.credentials())
  return { sandbox, control, ...client, stop: () => sandbox.stop() }
}

/** The one sandbox of this process that namespaces are made in. It ends with the process, and its Anvils as well. */
let surrounding: Promise<OpenSandbox> | undefined

/** Makes one as {@link openSandbox} starts a sandbox, at a tenth of what that costs: for all but starts, ends and options of a sandbox. */
export async function openNamespace(
  wish: Pick<NamespaceWish, 'seed' | 'clock' | 'confirmation_delay'> = {},
): Promise<OpenNamespace> {
  surrounding ??= openSandbox()
  const { sandbox, control } = await surrounding
  const credentials = await control.createNamespace(wish)
  const namespace = await sandbox.namespaces.get(credentials.namespace)
  const { baseUrl } = sandbox
  const client = await clientOf(namespace, credentials)
  return {
    sandbox: { baseUrl, namespace },
    control: control.in(credentials.namespace),
    ...client,
    stop: () => control.deleteNamespace(credentials.namespace),
  }
}

async function clientOf(
  namespace: Namespace,
  credentials: Credentials,
): Promise<Pick<OpenNamespace, 'acme' | 'tenant'>> {
  const { service } = namespace.services
  const tenant = service.store.find('tenants', 'slug', 'acme')!
  const { mintUserToken } = await import('../../src/identity/mint-user-token.ts')
  const mint = { audience: service.settings.audience, clock: service.clock, unknownKey: new UnknownKey() }
  const handle = {
    baseUrl: credentials.base_url,
    authUrl: credentials.auth_url,
    tenants: credentials.tenants,
    credentials: async () => credentials,
    userToken: async (external_id: string) => (await mintUserToken(tenant, { external_id }, mint)).token,
  }
  return { acme: new Partner(handle as Partner['sandbox']), tenant }
}

/** Pid of the first chain's Anvil. */
export function anvilPid({ sandbox }: OpenNamespace): number {
  return sandbox.namespace.services.chains.started!.all()[0]!.pid
}

/** The first chain's word and the ledger's on every end user of the tenant. */
export class Ledger {
  readonly #open: OpenNamespace
  constructor(open: OpenNamespace) {
    this.#open = open
  }

  get #store() {
    return this.#open.sandbox.namespace.services.service.store
  }

  get #chain() {
    return this.#open.sandbox.namespace.services.chains.all()[0]!
  }

  async users(): Promise<EndUser[]> {
    const { items } = await this.#store.page('end_users', { scope: this.#open.tenant.tenant_id, limit: 1_000 })
    return items
  }

  async pools(): Promise<Pool[]> {
    return (await this.#store.page('pools', { scope: this.#open.tenant.tenant_id, limit: 1_000 })).items
  }

  async portfolios(user: EndUser): Promise<Portfolio[]> {
    return (await this.#store.page('portfolios', { scope: user.id, limit: 1_000 })).items
  }

  async transactions(user: EndUser): Promise<Transaction[]> {
    return (await this.#store.page('transactions', { scope: user.id, limit: 10_000 })).items
  }

  /** What transfers have been signed and not settled. */
  async unsettled(): Promise<number> {
    return this.#store.count('transfers', 'all')
  }

  walletBalance(user: EndUser, token: Pool['token_address']): Promise<bigint> {
    return this.#chain.walletBalance(user, token)
  }

  async receipt(hash: string): Promise<{ status: string; blockNumber: string } | null> {
    return this.#rpc('eth_getTransactionReceipt', [hash])
  }

  async nonce(user: EndUser): Promise<number> {
    return Number(await this.#rpc<string>('eth_getTransactionCount', [user.wallet_address, 'latest']))
  }

  /** When a block was mined, in seconds since the Unix epoch. */
  async timestamp(block: string): Promise<number> {
    return Number((await this.#rpc<{ timestamp: string }>('eth_getBlockByNumber', [block, false])).timestamp)
  }

  async #rpc<T>(method: string, params: unknown[]): Promise<T> {
    const answer = await this.#chain.relay({ jsonrpc: '2.0', id: 1, method, params })
    return (JSON.parse(answer ?? '') as { result: T }).result
  }

  /** API, ledger and chain say the same of everybody, and nothing is left half done. */
  async expectAudited(): Promise<void> {
    expect(await this.unsettled()).toBe(0)
    const { checks } = await this.#open.sandbox.namespace.audit()
    expect(checks.filter(({ ok, detail }) => !ok || detail.includes('not compared'))).toEqual([])
  }

  /** The same, and no wallet sent a transaction that the ledger does not know: for runs without reverted ones. */
  async expectSound(): Promise<void> {
    await this.expectAudited()
    for (const user of await this.users()) {
      const transactions = await this.transactions(user)
      expect(await this.nonce(user), `transactions of ${user.external_id} on chain`).toBe(transactions.length)
    }
  }
}

/** What a new wallet holds (assumption `wallet`). */
export function wholeMillion({ token_decimals }: Pool): bigint {
  return 1_000_000n * 10n ** BigInt(token_decimals)
}
