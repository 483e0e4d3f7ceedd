import { privateKeyToAccount } from 'viem/accounts'
import { expect, it, vi } from 'vitest'
import { AnvilChain } from '../../src/chain/anvil-chain.ts'
import type { RpcCall } from '../../src/chain/json-rpc/rpc-client.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import { eventually } from '../helpers/eventually.ts'
import { alice, type ChainFixture, nodeUrl, order, rpc } from './chain-fixture.ts'
import { deposit, gone, height, inPools } from './node-pools.ts'

const bob = { ...alice, external_id: 'bob' }
/** A call that occupies a node for a while: a loop until its gas is used up. */
const ENDLESS: RpcCall = [
  'eth_call',
  { to: '0x00000000000000000000000000000000000000bb', gas: '0x1dcd6500' },
  'latest',
  { '0x00000000000000000000000000000000000000bb': { code: '0x5b5f56' } },
]
const SOMEBODY = '0x00000000000000000000000000000000000000aa'

inPools(({ nodes, poolOf, start, template }) => {
  /** A pool, and a chain that has a node of it. */
  const chains = async (options: { rpcTimeout?: number } = {}) => {
    const { begin } = template
    const pool = poolOf(100)
    pool.prepare(begin)
    const used = await start({ begin, pool, ...options })
    await used.insist(() => height(used))
    return { begin, pool, used }
  }

  /** Ends a chain, whose node must not be kept. */
  const endsWithNode = async ({ chain, chains }: ChainFixture, pid = chain.pid) => {
    await chains.stop()
    gone(pid)
  }

  it('gives the node of a chain that has ended to the next one, time and again, and starts no other', async () => {
    const { begin, pool, used } = await chains()
    const before = nodes.length
    let last = used
    for (let use = 0; use < 10; use++) {
      await deposit(last)
      await last.chains.stop()
      last = await start({ begin, pool })
    }
    await deposit(last)
    expect(nodes.length).toBe(before)
  })

  it('gives the one that is being made to the first who needs one, instead of starting another', async () => {
    const { begin } = template
    const clock = new SandboxClock()
    const pauses = vi.spyOn(clock, 'wallSleep')
    const pool = poolOf(10, { clock })
    const before = nodes.length
    pool.prepare(begin)
    await height(await start({ begin, pool }))
    expect(nodes.length).toBe(before + 1)
    expect(pauses).not.toHaveBeenCalledWith(100) // nor is another one made later: it may be the only chain
    pool.prepare(begin)
    await height(await start({ begin, pool }))
    expect(pauses).toHaveBeenCalledWith(100)
  })

  it('shows nothing of an earlier use: every answer is that of a new node, before and after the same transfers', async () => {
    const { begin, pool, used } = await chains()
    await used.fund(bob)
    const { tx_hash } = await used.chain.transfer(order('deposit', used.pool('vault USDC'), 5n, { owner: bob }))
    const transfer = { ...order('deposit', used.pool('aave USDC'), 3n), owner: alice }
    const later = await used.chain.transfer(transfer)
    await used.chain.setApy(used.pool('aave USDC'), 0.09)
    await used.chain.setPoolPaused(used.pool('vault WETH'), true)
    await used.chain.reorg()
    await rpc(used.chain, 'eth_sendRawTransaction', await tooEarly())
    for (let block = 0; block < 3; block++) await deposit(used)
    const seen = await rpc<{ hash: string; number: string }>(used.chain, 'eth_getBlockByNumber', 'latest', false)
    const wallets = [alice, bob].map((owner) => used.chains.walletAddress(owner))
    const { pid } = used.chain
    await used.chains.stop()
    const [next, fresh] = [await start({ begin, pool }), await start({ begin })]
    await height(next)
    expect(next.chain.pid).toBe(pid)
    const same = async () => {
      for (const [method, ...params] of questions({ hashes: [tx_hash, later.tx_hash], seen, wallets, used })) {
        const [one, other] = await Promise.all([next, fresh].map(({ chain }) => outcome(chain, method, params)))
        expect({ method, params, answer: one }).toEqual({ method, params, answer: other })
      }
    }
    await same()
    for (const { chain, pool } of [next, fresh]) await chain.transfer(order('deposit', pool('aave USDC'), 7n))
    await same()
    for (const { chain } of [next, fresh]) expect(await rpc(chain, 'evm_snapshot')).toBe('0x1')
  })

  it('a chain that begins with another copy on the same checkpoint gets it too', async () => {
    const { pool, used } = await chains()
    const { later: begin, next: last } = template
    pool.prepare(begin)
    await height(await start({ begin, pool })) // has the spare that was made for it
    await used.fund(bob) // which is not in the copy
    await deposit(used)
    const { pid } = used.chain
    await used.chains.stop()
    const next = await start({ begin, pool })
    expect(await rpc(next.chain, 'eth_getBlockByNumber', 'latest', true)).toEqual(last)
    expect(next.chain.pid).toBe(pid)
  })

  it.each<[string, (chain: ChainFixture) => Promise<unknown>]>([
    ['a balance was set from outside', ({ chain }) => rpc(chain, 'anvil_setBalance', SOMEBODY, '0x1')],
    ['somebody has a filter in it', ({ chain }) => rpc(chain, 'eth_newBlockFilter')],
    ['somebody has taken a snapshot', ({ chain }) => rpc(chain, 'evm_snapshot')],
    ['the time of its next block was set', ({ chain }) => rpc(chain, 'evm_increaseTime', 1_000)],
    [
      'it has forgotten blocks',
      async (fixture) => {
        for (let block = 0; block < 40; block++) await deposit(fixture)
      },
    ],
    ['it has died', async ({ chain }) => process.kill(chain.pid, 'SIGKILL')],
  ])('ends it when %s', async (_, change) => {
    const { used } = await chains()
    const { pid } = used.chain
    await change(used)
    await endsWithNode(used, pid)
  })

  it('ends it while it owes an answer, which may be to a change', async () => {
    const { used } = await chains()
    const asked = used.chain.ask([ENDLESS]).catch(() => undefined)
    await endsWithNode(used)
    await asked
  })

  it('ends it when a call to it was given up, which it may still carry out', async () => {
    const { used } = await chains({ rpcTimeout: 100 })
    await expect(used.chain.ask([ENDLESS])).rejects.toThrow('no answer within 100 ms')
    await used.insist(() => height(used))
    await endsWithNode(used)
  })

  it('ends it when its state is not the one that the node began with', async () => {
    const { used } = await chains()
    // Past the gateway, which would have noticed: all snapshots are gone.
    expect(await rpc(await nodeUrl(used.chain.pid), 'evm_revert', '0x0')).toBe(true)
    await endsWithNode(used)
  })

  it('ends it when only chains of another id begin with its checkpoint', async () => {
    const { begin } = template
    const pool = poolOf(10)
    pool.prepare(new Map([...begin.values()].map((copy) => ['1', copy])))
    const used = await start({ begin, pool })
    await height(used)
    await endsWithNode(used)
  })

  it('keeps those that nobody takes for a minute, and then one', async () => {
    let pass = () => {}
    const minute = new Promise<void>((resolve) => (pass = resolve))
    const clock = new SandboxClock()
    const sleep = clock.wallSleep.bind(clock)
    clock.wallSleep = (milliseconds, signal) => (milliseconds === 60_000 ? minute : sleep(milliseconds, signal))
    const { begin } = template
    const pool = poolOf(10, { clock })
    pool.prepare(begin)
    const used = await Promise.all([1, 2].map(() => start({ begin, pool })))
    await Promise.all(used.map(height))
    await Promise.all(used.map(({ chains }) => chains.stop()))
    expect(pool.nodes).toBe(2)
    pass()
    await eventually(() => expect(pool.nodes).toBe(1))
  })

  it('keeps a few, whatever number of chains end at once', async () => {
    const { begin, pool, used } = await chains()
    const many = await Promise.all([1, 2, 3, 4].map(() => start({ begin, pool })))
    await Promise.all(many.map(height))
    await Promise.all([used, ...many].map(({ chains }) => chains.stop()))
    expect(pool.nodes).toBe(4)
  })

  it('a call that still comes to a chain that is stopped is not begun, though its node has gone on elsewhere', async () => {
    const started = vi.spyOn(AnvilChain, 'start')
    const { used } = await chains()
    const stopped = await started.mock.results.at(-1)!.value
    started.mockRestore()
    await used.chains.stop()
    const calls = [
      ['eth_blockNumber'],
      ['eth_getBlockByNumber', 'latest', false],
      ['eth_newBlockFilter'],
      ['evm_snapshot'],
    ]
    for (const [method, ...params] of calls) {
      const answer = await stopped.relay({ jsonrpc: '2.0', id: 1, method, params })
      expect(JSON.parse(answer).error.message, String(method)).toBe('not begun: the chain was reset meanwhile')
    }
  })

  it('takes none back once it is to stop', async () => {
    const { pool, used } = await chains()
    pool.beginStop()
    await endsWithNode(used)
  })
})

/** A transaction that waits in the pool for earlier ones of its sender. */
function tooEarly() {
  const terms = { chainId: 31337, gas: 21_000n, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } as const
  return privateKeyToAccount(`0x${'42'.repeat(32)}`).signTransaction({ ...terms, to: SOMEBODY, nonce: 7 })
}

/** Everything that an outsider can ask for what an earlier chain had. */
function questions({ hashes, seen, wallets, used }: Questions): [method: string, ...params: unknown[]][] {
  const blocks = [
    'latest',
    seen.number,
    ...[1, 2, 3, 4].map((back) => `0x${(Number(seen.number) - back).toString(16)}`),
  ]
  const tokens = Object.values(used.market.tokens).map(({ address }) => address)
  const addresses = [...wallets, used.market.aave_pool]
  return [
    ...hashes.flatMap((hash): [string, ...unknown[]][] =>
      [
        'eth_getTransactionByHash',
        'eth_getTransactionReceipt',
        'eth_getRawTransactionByHash',
        'trace_transaction',
        'debug_traceTransaction',
      ].map((method) => [method, hash]),
    ),
    ['eth_getBlockByHash', seen.hash, true],
    ['eth_getLogs', { blockHash: seen.hash }],
    ['eth_getLogs', { fromBlock: 'earliest', toBlock: 'latest' }],
    ...blocks.flatMap((block): [string, ...unknown[]][] => [
      ['eth_getBlockByNumber', block, true],
      ['eth_getBlockReceipts', block],
      ['trace_block', block],
      ['eth_feeHistory', '0x3', block, [50]],
      ...addresses.flatMap((address): [string, ...unknown[]][] => [
        ['eth_getBalance', address, block],
        ['eth_getTransactionCount', address, block],
        ['eth_getStorageAt', address, '0x0', block],
      ]),
      ...tokens.flatMap((to) =>
        wallets.map((wallet): [string, ...unknown[]] => [
          'eth_call',
          { to, data: `0x70a08231${wallet.slice(2).padStart(64, '0')}` },
          block,
        ]),
      ),
    ]),
    ...wallets.map((wallet): [string, ...unknown[]] => ['eth_getTransactionBySenderAndNonce', wallet, '0x0']),
    ...[
      'eth_blockNumber',
      'eth_accounts',
      'eth_gasPrice',
      'txpool_status',
      'txpool_content',
      'txpool_inspect',
      'anvil_nodeInfo',
    ].map((method): [string] => [method]),
    ['anvil_getAutomine'],
    ['anvil_getIntervalMining'],
  ]
}

interface Questions {
  /** Of transactions. */
  hashes: string[]
  /** The last block of the earlier chain. */
  seen: { hash: string; number: string }
  wallets: string[]
  used: ChainFixture
}

/** An answer, or the error in its place. */
async function outcome(chain: ChainFixture['chain'], method: string, params: unknown[]): Promise<unknown> {
  return rpc(chain, method, ...params).catch((error: Error) => error.message)
}
