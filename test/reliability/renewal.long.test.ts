import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { AnvilChain } from '../../src/chain/anvil-chain.ts'
import { ControlClient } from '../../src/control/client.ts'
import type { SandboxHandle, SandboxOptions } from '../../src/index.ts'
import { rpc } from '../chain/chain-fixture.ts'
import { forked } from '../chain/forked-fixture.ts'
import { startUpstream } from '../chain/upstream-chain.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { Partner } from '../helpers/partner.ts'

const started: AnvilChain[] = []
beforeAll(() => {
  const start = AnvilChain.start.bind(AnvilChain)
  vi.spyOn(AnvilChain, 'start').mockImplementation(async (options) => {
    const chain = await start({ ...options, renewAfter: 40 })
    started.push(chain)
    return chain
  })
})
afterAll(() => {
  vi.restoreAllMocks()
})

const USERS = ['carol', 'dave', 'erin', 'frank', 'grace', 'heidi', 'ivan', 'judy']
const DEPOSITS_EACH = 20
/** How many Anvils there must have been, whatever number of deposits shares a block. */
const ANVILS = 4

let sandbox: SandboxHandle | undefined
let cleanUp: () => Promise<void> = async () => {}
afterEach(async () => {
  await sandbox?.stop()
  await cleanUp()
})

const pidNow = () => started.at(-1)!.pid
const control = () => new ControlClient(sandbox!.baseUrl)
const rpcUrl = () => `${sandbox!.baseUrl}/rpc/${started.at(-1)!.chain_id}`

async function expectSound(): Promise<void> {
  expect((await control().audit()).checks.filter(({ ok, detail }) => !ok || detail.includes('not compared'))).toEqual(
    [],
  )
}

/** Asks the chain this and that until it is told that it is over. Throws should it ever get an error. */
async function keepReading(
  over: () => boolean,
  hashes: readonly string[],
  pool: Record<string, string>,
): Promise<void> {
  for (let turn = 0; !over(); turn++) {
    await rpc(rpcUrl(), 'eth_blockNumber')
    const { transactions } = await rpc<{ transactions: unknown[] }>(rpcUrl(), 'eth_getBlockByNumber', 'latest', true)
    expect(typeof (transactions[0] ?? {})).toBe('object')
    expect(await rpc(rpcUrl(), 'eth_call', { to: pool.token_address, data: '0x18160ddd' }, 'latest')).toMatch(/^0x/)
    const hash = hashes[(turn * 7) % Math.max(1, hashes.length)]
    if (hash) expect(await rpc(rpcUrl(), 'eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
  }
}

/** Deposits of many at once, and reads all the while. Returns the hashes, and how many Anvils there were. */
async function load(acme: Partner): Promise<{ hashes: string[]; anvils: number }> {
  const portfolios = await Promise.all(USERS.map((user) => acme.open(user, 'aave-usdc')))
  const pool = await acme.pool('aave-usdc')
  const hashes: string[] = []
  const pids = new Set([pidNow()])
  let over = false
  const reading = [1, 2, 3].map(() => keepReading(() => over, hashes, pool))
  await Promise.all(
    USERS.map(async (user, i) => {
      for (let n = 0; n < DEPOSITS_EACH || (pids.size < ANVILS && n < 10 * DEPOSITS_EACH); n++) {
        const { status, body } = await acme.deposit(user, portfolios[i]!, '1000')
        expect({ status, code: body.code }).toEqual({ status: 200, code: undefined })
        hashes.push(body.tx_hash)
        pids.add(pidNow())
      }
    }),
  ).finally(() => {
    over = true
  })
  await Promise.all(reading)
  return { hashes, anvils: pids.size }
}

async function expectReceipts(hashes: readonly string[]): Promise<void> {
  expect(hashes.length).toBeGreaterThanOrEqual(USERS.length * DEPOSITS_EACH)
  expect(new Set(hashes).size).toBe(hashes.length)
  for (const hash of hashes)
    expect(await rpc(rpcUrl(), 'eth_getTransactionReceipt', hash)).toMatchObject({
      transactionHash: hash,
      status: '0x1',
    })
}

/** What holds of every chain, whatever it is made from. */
async function expectUnnoticed(change: Parameters<typeof sandboxWith>[0], options: SandboxOptions = {}) {
  sandbox = await sandboxWith(change, options)
  const acme = new Partner(sandbox)
  const { hashes, anvils } = await load(acme)
  expect(anvils).toBeGreaterThanOrEqual(ANVILS)
  await expectReceipts(hashes)
  await expectSound()
  return hashes
}

async function expectResettable(): Promise<void> {
  const [acme, url] = [new Partner(sandbox!), rpcUrl()]
  const before = Number(await rpc(url, 'eth_blockNumber'))
  await control().reset()
  expect(Number(await rpc(url, 'eth_blockNumber'))).toBeLessThan(before)
  const { status, body } = await acme.deposit('carol', await acme.open('carol', 'aave-usdc'), '1000')
  expect({ status, deposited: body.deposited }).toEqual({ status: 200, deposited: '1000' })
  await expectSound()
}

describe('an Anvil that is replaced again and again under load is noticed by nobody', () => {
  test('without a data directory', async () => {
    await expectUnnoticed(() => {})
    await expectResettable()
  })

  test('with a data directory, where all is found again', async () => {
    const dataDir = temporaryDirectory()
    const hashes = await expectUnnoticed(() => {}, { dataDir })
    await sandbox?.stop()
    sandbox = await sandboxWith(() => {}, { dataDir })
    await expectReceipts(hashes)
    await expectSound()
    await expectResettable()
  })

  test('on a fork', async () => {
    // No chain that Anvil knows: of those it takes the rules that held at the time of the block it forks.
    const upstream = await startUpstream('424242')
    cleanUp = () => upstream.stop()
    await expectUnnoticed(forked(upstream, '424242'))
    await rpc(rpcUrl(), 'anvil_setBalance', `0x${'8'.repeat(40)}`, '0x1234') // a checkpoint follows
    await load(new Partner(sandbox!))
    await expectResettable()
  })
})
