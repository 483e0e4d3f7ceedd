import fc from 'fast-check'
import { createPublicClient, type Hex, http, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MovedClock } from '../../src/control/contract.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

const ABI = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function convertToAssets(uint256) view returns (uint256)',
])
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
    const { now, chains } = await post({ advance })
    expect(chains).toEqual({ ok: true })
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

/** What the wallet's share of the pool is worth at the latest block, by a client that knows nothing of the sandbox. */
async function onChain(poolId: string, user: string): Promise<bigint> {
  const client = createPublicClient({ transport: http((await sandbox.credentials()).rpc_urls['31337']!) })
  const wallet = (await acme.post('end_users', { external_id: user })).body.wallet_address as Hex
  const { market_address, token_address } = (await acme.pool(poolId)) as Record<string, Hex>
  const read = { abi: ABI, args: [wallet] } as const
  if (poolId.startsWith('aave')) {
    const reserve = await client.readContract({
      abi: parseAbi([
        'function getReserveData(address) view returns ((uint256 c, uint128 i, uint128 r, uint128 b, uint128 v, uint128 s, uint40 t, uint16 id, address aToken))',
      ]),
      address: market_address!,
      functionName: 'getReserveData',
      args: [token_address!],
    })
    return client.readContract({ ...read, address: reserve.aToken, functionName: 'balanceOf' })
  }
  const shares = await client.readContract({ ...read, address: market_address!, functionName: 'balanceOf' })
  return client.readContract({ abi: ABI, address: market_address!, functionName: 'convertToAssets', args: [shares] })
}

const shown = async (user: string) =>
  BigInt((await acme.get(`end_users/${user}/portfolios`)).body.data[0].total_balance as string)

/** A share of any size, then moves of the clock: parts of a second, days, and past the longest there are. */
const series = fc.tuple(
  fc.bigInt(10n ** 6n, 10n ** 12n),
  fc.array(fc.oneof(fc.constant(0), fc.nat(2_000), fc.nat(DAY), fc.nat(400 * DAY)), { minLength: 1, maxLength: 6 }),
)

test.each(['aave-usdc', 'aave-weth', 'morpho-usdc', 'morpho-weth'])(
  'total_balance of %s is what a plain client reads at the latest block, frozen or running',
  async (poolId) => {
    let users = 0
    const property = fc.asyncProperty(series, async ([amount, waits]) => {
      const user = `gap-${poolId}-${++users}`
      await sandbox.clock.freeze()
      await acme.deposit(user, await acme.open(user, poolId), String(amount))
      for (const wait of waits) {
        await sandbox.clock.advance(wait)
        expect(await onChain(poolId, user)).toBe(await shown(user))
        await sandbox.clock.unfreeze()
        // What is read later is worth no less, and the first reading again no more than the last.
        const [first, second, third] = [await shown(user), await onChain(poolId, user), await shown(user)]
        expect(second).toBeGreaterThanOrEqual(first)
        expect(second).toBeLessThanOrEqual(third)
        await sandbox.clock.freeze()
      }
    })
    await fc.assert(property, { numRuns: 10 })
  },
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
