import { readFile } from 'node:fs/promises'
import { afterEach } from 'vitest'
import { type AnvilChains, type ChainsOptions, openChains, startAnvilChains } from '../../src/chain/anvil-chains.ts'
import { embeddedCheckpoint, embeddedMarket } from '../../src/chain/markets/embedded-market.ts'
import type { OnDemandChain } from '../../src/chain/on-demand-chain.ts'
import type { EmbeddedMarket } from '../../src/domain/chain-setup.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { SignedTransaction, TransferFacts, TransferOrder, WalletOwner } from '../../src/domain/ports/chain.ts'
import type { Pool, Transfer, TransferType } from '../../src/domain/records.ts'
import { retryChainOutage } from '../../src/domain/retry-chain-outage.ts'
import type { Logger } from '../../src/support/logger.ts'

export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

export const alice: WalletOwner = { tenant_id: 'acme', external_id: 'alice' }

const POOL_NAMES = ['aave USDC', 'aave WETH', 'vault USDC', 'vault WETH'] as const
export type PoolName = (typeof POOL_NAMES)[number]

/** A running embedded chain and what tests ask of it. */
export interface ChainFixture {
  clock: SandboxClock
  market: EmbeddedMarket
  chains: AnvilChains
  chain: OnDemandChain
  pool(name: PoolName): Pool
  /** Gives an owner tokens and allowances for every pool. */
  fund(owner: WalletOwner, amount?: bigint): Promise<void>
  /** Asks again for what the chain refuses because no answer came in time, as on a busy machine, or because it is restarted. */
  insist<Result>(task: () => Promise<Result>): Promise<Result>
}

type StartOptions = { rpcTimeout?: number; clock?: SandboxClock } & Partial<
  Pick<ChainsOptions, 'log' | 'renewAfter' | 'governingKey' | 'journal' | 'begin' | 'idleMs' | 'pool' | 'blockTime'>
>

/** Starts the embedded chain; one that begins with a copy is only opened. */
export async function startChain({ clock = new SandboxClock(), ...options }: StartOptions = {}): Promise<ChainFixture> {
  const market = await embeddedMarket()
  const pool = (name: PoolName): Pool => {
    const [protocol, symbol] = name.split(' ') as [string, string]
    return {
      tenant_id: 'acme',
      pool_id: name,
      protocol: protocol === 'aave' ? 'aave' : 'morpho',
      chain_id: market.chain_id,
      token_symbol: symbol,
      token_decimals: market.tokens[symbol]!.decimals,
      token_address: market.tokens[symbol]!.address,
      market_address: protocol === 'aave' ? market.aave_pool : market.vaults[symbol]!,
    }
  }
  const chains = await (options.begin ? openChains : startAnvilChains)({
    chains: [{ ...market, markets: POOL_NAMES.map((name) => ({ pool: pool(name), origin: name })) }],
    embedded: await embeddedCheckpoint(),
    clock,
    seed: 7,
    protocols: ['aave', 'morpho'],
    log: silent,
    ...options,
  })
  const chain = chains.get(market.chain_id)!
  const insist: ChainFixture['insist'] = (task) => retryChainOutage(task, { clock, ended: () => false })
  const fund = (owner: WalletOwner, amount = 10n ** 24n) => {
    const funding = Object.entries(market.tokens).map(([symbol, { address }]) => ({
      token_address: address,
      amount,
      spenders: [market.aave_pool, market.vaults[symbol]!],
    }))
    return insist(() => chain.fundWallet(owner, funding))
  }
  return { clock, market, chains, chain, pool, fund, insist }
}

/** Returns a {@link startChain} with defaults of its own; what it starts ends after each test. */
export function chainsForEachTest(defaults: () => StartOptions): (options?: StartOptions) => Promise<ChainFixture> {
  const fixtures: ChainFixture[] = []
  afterEach(async () => {
    await Promise.all(fixtures.splice(0).map(({ chains }) => chains.stop()))
  })
  return async (options) => {
    const fixture = await startChain({ ...defaults(), ...options })
    fixtures.push(fixture)
    return fixture
  }
}

/** An order with everything not of interest filled in; `seen` collects facts and signed bytes. */
export function order(
  type: TransferType,
  pool: Pool,
  amount: bigint | 'all',
  rest: Partial<TransferOrder> & { shares?: bigint } = {},
): TransferOrder & { seen: { facts: TransferFacts[]; signed: SignedTransaction[] } } {
  const seen: { facts: TransferFacts[]; signed: SignedTransaction[] } = { facts: [], signed: [] }
  const { shares = 0n, ...overrides } = rest
  return {
    seen,
    type,
    owner: alice,
    amount: amount === 'all' ? 0n : amount,
    position: { pool, shares },
    decide(facts) {
      seen.facts.push(facts)
      const available = type === 'deposit' ? facts.wallet_balance : facts.position_value
      if (amount !== 'all' && amount > available) throw new Error('insufficient')
      return amount === 'all' ? { amount: available, all: true } : { amount, all: false }
    },
    signed(transaction) {
      seen.signed.push(transaction)
      return { tx_hash: transaction.tx_hash } as Transfer
    },
    async storeSigned() {},
    ...overrides,
  }
}

/** Where the Anvil of this process listens, past the gateway; on Linux alone. */
export async function nodeUrl(pid: number): Promise<string> {
  const [, host, port] = /--host\0([\d.]+)\0--port\0(\d+)/.exec(await readFile(`/proc/${pid}/cmdline`, 'utf8'))!
  return `http://${host}:${port}`
}

/** One JSON-RPC call as any client would make it, to a URL or to a chain as its URL would pass it on. */
export async function rpc<Result>(
  to: string | Pick<OnDemandChain, 'relay'>,
  method: string,
  ...params: unknown[]
): Promise<Result> {
  const request = { jsonrpc: '2.0', id: 1, method, params }
  const text = typeof to === 'string' ? await posted(to, request) : ((await to.relay(request)) ?? '')
  const answer = JSON.parse(text) as { result: Result; error?: { message: string } }
  if (answer.error) throw new Error(answer.error.message)
  return answer.result
}

async function posted(url: string, request: object): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(request) })).text()
}
