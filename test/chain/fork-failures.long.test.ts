import { numberToHex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type AnvilChains, startAnvilChains } from '../../src/chain/anvil-chains.ts'
import { embeddedCheckpoint } from '../../src/chain/markets/embedded-market.ts'
import type { OnDemandChain } from '../../src/chain/on-demand-chain.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import { ChainUnavailableError, type WalletOwner } from '../../src/domain/ports/chain.ts'
import type { Pool } from '../../src/domain/records.ts'
import type { FixtureFile } from '../../src/fixtures/fixture-schema.ts'
import type { SandboxOptions } from '../../src/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { alice, order, rpc, silent } from './chain-fixture.ts'
import { expectSameChain } from './expect-same-chain.ts'
import { forked } from './forked-fixture.ts'
import { type Mood, startUpstream, type UpstreamChain } from './upstream-chain.ts'

type Change = (fixture: FixtureFile) => void

let upstream: UpstreamChain
beforeAll(async () => {
  upstream = await startUpstream('8453')
})
afterAll(() => upstream.stop())
afterEach(() => upstream.be('well'))

const NOWHERE = `0x${'de'.repeat(20)}`

/** Why a sandbox of a fork does not start. */
async function refusal(change: Change = () => {}, options: SandboxOptions = {}): Promise<Error> {
  const started = sandboxWith((fixture) => {
    forked(upstream)(fixture)
    change(fixture)
  }, options)
  const outcome = await started.then(
    (sandbox) => sandbox.stop().then(() => new Error('it started')),
    (error: Error) => error,
  )
  expect(outcome.message).not.toContain(upstream.key)
  expect(outcome.message).not.toContain('\n')
  return outcome
}

describe('a fork that cannot be made is refused at the start, with the place and what to do', () => {
  it.each<[string, Mood, RegExp]>([
    [
      'the upstream is down',
      'down',
      /fixture\.json:1:\d+ chains\[0\]\.fork_url: 127\.0\.0\.1:\d+ does not answer: .+\. Fix: /,
    ],
    [
      'the rate is limited',
      'limited',
      /chains\[0\]\.fork_url: .* limits the rate of requests \(status 429\)\. Fix: wait/,
    ],
    ['it answers HTML', 'html', /chains\[0\]\.fork_url: .* answers HTML with status 200, not JSON-RPC\. Fix: /],
    [
      'the state is pruned',
      'pruned',
      /chains\[0\]\.fork_url: .* has no state of block \d+ .*missing trie node.*Fix: use an archive/,
    ],
  ])('%s', async (_, mood, message) => {
    upstream.be(mood)
    const error = await refusal()
    expect(error.name).toBe('ChainSetupError')
    expect(error.message).toMatch(message)
  })

  it.each<[string, Change, RegExp]>([
    [
      'it is another chain',
      (f) => {
        f.chains![0]!.chain_id = '1'
        for (const pool of f.pools) pool.chain_id = '1'
      },
      /chains\[0\]\.fork_url: .* is chain 8453, not 1\. Fix: give the RPC URL of chain 1/,
    ],
    [
      'the block does not exist',
      (f) => {
        f.chains![0]!.fork_block_number = 99_999_999
      },
      /chains\[0\]\.fork_url: .* has no block 99999999; its latest is \d+\. Fix: choose an earlier/,
    ],
    [
      'the pool address has no code',
      (f) => Object.assign(f.pools[0]!, { market_address: NOWHERE }),
      /fixture\.json:1:\d+ pools\[0\]\.market_address: the market_address 0x\w+ has no code on chain 8453 at block \d+/,
    ],
    [
      'the token address has no code',
      (f) => {
        Object.assign(f.pools[0]!, { token_address: NOWHERE, token_symbol: 'ACME' })
        delete f.tenants[0]!.end_users![0]!.portfolios
      },
      /pools\[0\]\S*: the token_address 0x\w+ has no code/,
    ],
    [
      'the Aave pool is none',
      (f) => Object.assign(f.pools[0]!, { market_address: upstream.market.vaults.USDC }),
      /pools\[0\]\S*: the market 0x\w+ is no Aave V3 pool.* Fix: check the address/,
    ],
    [
      'the vault is of another token',
      (f) => Object.assign(f.pools[1]!, { market_address: upstream.market.vaults.WETH }),
      /pools\[1\]\S*: the market 0x\w+ is a vault of 0x\w+, not of USDC/,
    ],
    [
      'the decimals are wrong',
      (f) => {
        for (const pool of f.pools.slice(0, 2)) Object.assign(pool, { token_decimals: 8 })
      },
      /pools\[0\]\S*: the token 0x\w+ has 6 decimals, not 8\. Fix: correct token_decimals/,
    ],
  ])('%s', async (_, change, message) => {
    expect((await refusal(change)).message).toMatch(message)
  })

  it('names the flag when the URL came by it, and shows nothing of the URL but its host', async () => {
    const url = `http://user:hush-hush@127.0.0.1:9/${upstream.key}?apikey=${upstream.key}`
    const { message } = await refusal(undefined, { forkUrl: url })
    expect(message).toMatch(/^--fork-url: 127\.0\.0\.1:9 does not answer: /)
    expect(message).not.toMatch(/hush|user|apikey/)
  })

  it.each<[string, SandboxOptions, Change, RegExp]>([
    ['no URL', { forkUrl: 'mainnet' }, () => {}, /^forkUrl must be an http or https URL/],
    ['no block', { forkBlockNumber: -1 }, () => {}, /^forkBlockNumber must be a whole number/],
    [
      'a block without a URL',
      { forkBlockNumber: 1 },
      (f) => {
        f.chains = [{ chain_id: '8453' }]
      },
      /chains: have no fork_url for --fork-block-number/,
    ],
  ])('%s: the option is refused', async (_, options, change, message) => {
    expect((await refusal(change, options)).message).toMatch(message)
  })

  it('says which fixture to use when the default one has nothing to fork', async () => {
    const message = /default\.yaml.*names no chain that --fork-url could fork.*Fix: start with --fixtures/
    await expect(testSandbox({ forkUrl: 'http://127.0.0.1:9' })).rejects.toThrow(message)
  })
})

describe('an upstream that fails later', () => {
  it.each<[Mood, RegExp]>([
    ['down', /127\.0\.0\.1:\d+ does not answer/],
    ['limited', /limits the rate/],
    ['html', /answers HTML/],
  ])('%s: what needs it is 503, what does not goes on, and all is well when it returns', async (mood, reason) => {
    const lines: { msg: string; text: string }[] = []
    const logger = await recorder(lines)
    await using sandbox = await sandboxWith(forked(upstream), { logger })
    const acme = new Partner(sandbox)
    const known = await acme.open('alice')
    const ready = () => fetch(`${sandbox.baseUrl}/_sandbox/ready`)

    upstream.be(mood)
    const refused = await acme.post('end_users', { external_id: 'new' })
    expect(refused).toMatchObject({ status: 503, body: { code: 'chain_unavailable' } })
    const unready = await ready()
    expect(unready.status).toBe(503)
    expect(((await unready.json()) as { reason: string }).reason).toMatch(reason)
    expect((await acme.get('end_users/alice/portfolios')).status).toBe(200)
    expect((await acme.deposit('alice', known, '1000000')).status).toBe(200)
    expect(lines.some(({ text }) => reason.test(text))).toBe(true)
    expect(lines.map(({ text }) => text).join()).not.toContain(upstream.key)

    upstream.be('well')
    await eventually(async () => expect((await ready()).status).toBe(200))
    const portfolio = await acme.open('new')
    expect((await acme.deposit('new', portfolio, '1000000')).status).toBe(200)
  })

  describe('signed transfers', () => {
    const bob = { ...alice, external_id: 'bob' }
    let chains: AnvilChains
    let chain: OnDemandChain
    beforeEach(async () => {
      const { url, market } = upstream
      chains = await startAnvilChains({
        chains: [{ chain_id: '8453', fork: { url, origin: '--fork-url' }, price_oracle: market.price_oracle }],
        embedded: await embeddedCheckpoint(),
        clock: new SandboxClock(),
        seed: 7,
        protocols: ['aave', 'morpho'],
        log: silent,
      })
      chain = chains.get('8453')!
      const spenders = [market.aave_pool, market.vaults.USDC!]
      const funding = { token_address: market.tokens.USDC!.address, amount: 10n ** 12n, spenders }
      for (const owner of [alice, bob]) await chain.fundWallet(owner, [funding])
    })
    afterEach(() => chains.stop())
    const transfers = (owner: WalletOwner) =>
      rpc(chain, 'eth_getTransactionCount', chains.walletAddress(owner), 'latest')

    it('are carried through once it returns, exactly once', async () => {
      const { aave } = poolsOf(upstream)
      let hash = ''
      // The market was never paid into: the transaction needs state that nobody fetched so far.
      const transfer = chain.transfer(
        order('deposit', aave, 1_000_000n, {
          async storeSigned([stored]) {
            hash = stored!.tx_hash
            upstream.be('down')
          },
        }),
      )
      await eventually(() => expect(chains.status().reason).toMatch(/does not answer/))
      await expect(chain.transfer(order('deposit', aave, 5n))).rejects.toThrow(ChainUnavailableError)

      upstream.be('well')
      expect(await transfer).toMatchObject({ status: 'success', tx_hash: hash, amount: 1_000_000n })
      expect(await transfers(alice)).toBe('0x1')
      await eventually(() => expect(chains.status()).toEqual({ ok: true }))
      const { shares } = await chain.transfer(order('deposit', aave, 3n))
      expect(shares).toBeGreaterThan(0n)
      // Blocks were mined without it meanwhile: done again with an upstream that answers, they must not hold it either.
      await expectSameChain(chain)
    })

    it.each<[Mood, RegExp]>([
      ['stateless', /127\.0\.0\.1:\d+ refuses \w+: missing trie node/],
      ['lagging', /refuses \w+: header not found/],
      ['throttled', /limits the rate/],
      ['empty', /refuses \w+: no result/],
    ])('wait as long as it refuses what they need: %s', async (mood, reason) => {
      const { aave, vault } = poolsOf(upstream)
      await chain.transfer(order('deposit', vault, 1_000_000n, { owner: bob }))
      const transfer = chain.transfer(
        order('deposit', aave, 1_000_000n, { storeSigned: async () => upstream.be(mood) }),
      )
      await eventually(() => expect(chains.status().reason).toMatch(reason))
      expect(chains.status().reason).not.toContain(upstream.key)
      await expect(chain.transfer(order('deposit', aave, 5n))).rejects.toThrow(ChainUnavailableError)
      const { requests } = upstream
      await eventually(() => expect(upstream.requests).toBeGreaterThan(requests + 4)) // it is looked after
      // For a moment it may say less: that state could not be fetched.
      await eventually(() => expect(chains.status().reason).toMatch(reason))

      upstream.be('well')
      expect(await transfer).toMatchObject({ status: 'success', amount: 1_000_000n })
      expect(await transfers(alice)).toBe('0x1')
      await eventually(() => expect(chains.status()).toEqual({ ok: true }))
      await expectSameChain(chain)
    })

    it('are none of its business what others ask of old blocks', async () => {
      upstream.be('stateless')
      await expect(rpc(chain, 'eth_getBalance', NOWHERE, '0x0')).rejects.toThrow(/missing trie node/)
      expect(chains.status()).toEqual({ ok: true })
    })

    it('are carried through that were left out of a block with others in it, on an Anvil that began at a checkpoint', async () => {
      const { aave, vault } = poolsOf(upstream)
      await chain.transfer(order('deposit', vault, 1_000_000n, { owner: bob }))
      await rpc(chain, 'anvil_setBalance', NOWHERE, '0x1')
      await chain.transfer(order('deposit', vault, 1_000_000n, { owner: bob }))
      await expectSameChain(chain)
      const down = async () => upstream.be('down')
      const [left, taken] = [
        chain.transfer(order('deposit', aave, 1_000_000n, { storeSigned: down })),
        chain.transfer(order('deposit', vault, 1_000_000n, { owner: bob })),
      ]
      expect(await taken).toMatchObject({ status: 'success' })
      expect([await transfers(alice), await transfers(bob)]).toEqual(['0x0', '0x3'])
      upstream.be('well')
      expect(await left).toMatchObject({ status: 'success', amount: 1_000_000n })
      expect(await transfers(alice)).toBe('0x1')
    })

    it('stand where they stood when a reorganisation cannot fetch what they need', async () => {
      const { vault } = poolsOf(upstream)
      const first = await chain.transfer(order('deposit', vault, 1_000_000n))
      const last = await chain.transfer(order('deposit', vault, 1_000_000n))
      upstream.dropNext(numberToHex(1, { size: 20 })) // whom the replaced block is mined for
      await expect(chain.reorg()).rejects.toThrow(ChainUnavailableError)
      await eventually(() => expect(chains.status()).toEqual({ ok: true }))
      for (const { tx_hash, block_number } of [first, last]) {
        const receipt = await rpc<{ blockNumber: string } | null>(chain, 'eth_getTransactionReceipt', tx_hash)
        expect(Number(receipt?.blockNumber)).toBe(block_number)
      }
      await chain.reorg()
      expect(await rpc(chain, 'eth_getTransactionReceipt', last.tx_hash)).toMatchObject({ status: '0x1' })
      await expectSameChain(chain)
    })
  })
})

function poolsOf({ market }: UpstreamChain): Record<'aave' | 'vault', Pool> {
  const { address, decimals } = market.tokens.USDC!
  const token = { tenant_id: 'acme', chain_id: '8453', token_symbol: 'USDC', token_decimals: decimals }
  const pool = { ...token, token_address: address }
  return {
    aave: { ...pool, pool_id: 'aave', protocol: 'aave', market_address: market.aave_pool },
    vault: { ...pool, pool_id: 'vault', protocol: 'morpho', market_address: market.vaults.USDC! },
  }
}

async function recorder(lines: { msg: string; text: string }[]) {
  const { pino } = await import('pino')
  const write = (text: string) => {
    lines.push({ msg: (JSON.parse(text) as { msg: string }).msg, text })
  }
  return pino({ level: 'info' }, { write }) as never
}
