import { expect } from 'vitest'
import type { EndUser, Pool, Portfolio, Tenant, Transaction } from '../../src/domain/records.ts'
import { UnknownKey } from '../../src/identity/unknown-key.ts'
import type { SandboxOptions } from '../../src/index.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { Partner } from '../helpers/partner.ts'

/** A sandbox with its inside within reach, and a partner's client of it. */
export interface OpenSandbox {
  sandbox: Sandbox
  acme: Partner
  tenant: Tenant
  stop(): Promise<void>
}

/** Starts one on free ports with instant confirmation and a fixed seed, unless the options say otherwise. */
export async function openSandbox(options: SandboxOptions = {}): Promise<OpenSandbox> {
  const sandbox = await Sandbox.listen({ port: 0, confirmationDelay: 0, seed: 7, ...options })
  await sandbox.ready
  const credentials = await sandbox.credentials()
  const { service } = sandbox.namespace.services
  const tenant = (await service.store.find('tenants', 'slug', 'acme'))!
  const { mintUserToken } = await import('../../src/identity/mint-user-token.ts')
  const mint = { audience: service.settings.audience, clock: service.clock, unknownKey: new UnknownKey() }
  const handle = {
    baseUrl: credentials.base_url,
    authUrl: credentials.auth_url,
    tenants: credentials.tenants,
    credentials: () => sandbox.credentials(),
    userToken: async (external_id: string) => (await mintUserToken(tenant, { external_id }, mint)).token,
  }
  return { sandbox, acme: new Partner(handle as Partner['sandbox']), tenant, stop: () => sandbox.stop() }
}

/** Pid of the first chain's Anvil. */
export function anvilPid({ sandbox }: OpenSandbox): number {
  return sandbox.namespace.services.chains.started!.all()[0]!.pid
}

/** The first chain's word and the ledger's on every end user of the tenant. */
export class Ledger {
  readonly #open: OpenSandbox
  constructor(open: OpenSandbox) {
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
