import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MovedClock } from '../../src/control/contract.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { shownAsRead } from './shown-as-read.ts'

const DAY = 86_400_000

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
})
afterAll(() => sandbox.stop())

async function post(move: object): Promise<MovedClock> {
  const body = JSON.stringify(move)
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${sandbox.controlUrl}/clock`, { method: 'POST', headers, body })
  return (await response.json()) as MovedClock
}

const latest = async () => Number((await sandbox.chain.getBlock()).timestamp)

test('POST /_sandbox/clock answers when the latest block of the chain has the new time', async () => {
  await sandbox.clock.freeze()
  for (const advance of ['1s', '8d', '1h']) {
    // On a busy machine the chain may be late, and the answer says so: then the next one is looked at.
    const { now } = await eventually(async () => {
      const moved = await post({ advance })
      expect(moved.chains).toEqual({ ok: true })
      return moved
    })
    expect(await latest()).toBe(Math.floor(Date.parse(now) / 1000))
  }
  expect(await post({ freeze: false })).toMatchObject({ frozen: false, chains: { ok: true } })
})

test("the library's clock can be awaited in the same way", async () => {
  await sandbox.clock.freeze()
  expect(await sandbox.clock.advance(30 * DAY)).toMatchObject({ chains: { ok: true } })
  expect(await latest()).toBe(Math.floor((await sandbox.clock.now()) / 1000))
})

test('while a chain is down the clock moves all the same, and the answer says that its blocks do not', async () => {
  await sandbox.clock.freeze()
  const before = await sandbox.clock.now()
  await sandbox.faults.add({ kind: 'chain_down', with: { for: '10m' }, match: { operation: 'list_pools' } })
  await acme.get('pools')
  const { now, chains } = await post({ advance: '1m' })
  expect(Date.parse(now)).toBe(before + 60_000)
  expect(chains).toMatchObject({ ok: false, reason: expect.stringContaining('31337') })
  expect(await sandbox.clock.advance(1_000)).toMatchObject({ chains: { ok: false } })
  await sandbox.faults.clear()
  expect(await sandbox.clock.advance(1_000)).toMatchObject({ chains: { ok: true } })
})

// More often: clock.long.test.ts.
test.each(['aave-usdc', 'aave-weth', 'morpho-usdc', 'morpho-weth'])(
  'total_balance of %s is what a plain client reads at the latest block, frozen or running',
  (poolId) => shownAsRead(sandbox, poolId, 2),
)

test('at rest no block is mined; whoever reads the latest one gets it of the present second', async () => {
  await sandbox.clock.freeze()
  const first = await sandbox.chain.getBlock()
  await sandbox.chain.getBlock()
  expect((await sandbox.chain.getBlock()).number).toBe(first.number)
  await sandbox.clock.unfreeze()
  const earliest = Math.floor((await sandbox.clock.now()) / 1000)
  expect(Number((await sandbox.chain.getBlock()).timestamp)).toBeGreaterThanOrEqual(earliest)
})
