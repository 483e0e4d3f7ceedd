import fc from 'fast-check'
import { createPublicClient, type Hex, http, parseAbi } from 'viem'
import { expect } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner } from '../helpers/partner.ts'

const ABI = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function convertToAssets(uint256) view returns (uint256)',
])
const DAY = 86_400_000

/** A share of any size, then moves of the clock: parts of a second, days, and past the longest there are. */
const series = fc.tuple(
  fc.bigInt(10n ** 6n, 10n ** 12n),
  fc.array(fc.oneof(fc.constant(0), fc.nat(2_000), fc.nat(DAY), fc.nat(400 * DAY)), { minLength: 1, maxLength: 6 }),
)

/** Compares what is shown of a pool with what a plain client reads at the latest block, in so many series. */
export async function shownAsRead(sandbox: SandboxHandle, poolId: string, numRuns: number): Promise<void> {
  const acme = new Partner(sandbox)

  /** What the wallet's share of the pool is worth at the latest block, by a client that knows nothing of the sandbox. */
  async function onChain(user: string): Promise<bigint> {
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

  let users = 0
  const property = fc.asyncProperty(series, async ([amount, waits]) => {
    const user = `gap-${poolId}-${++users}`
    await sandbox.clock.freeze()
    await acme.deposit(user, await acme.open(user, poolId), String(amount))
    for (const wait of waits) {
      await sandbox.clock.advance(wait)
      expect(await onChain(user)).toBe(await shown(user))
      await sandbox.clock.unfreeze()
      // What is read later is worth no less, and the first reading again no more than the last.
      const [first, second, third] = [await shown(user), await onChain(user), await shown(user)]
      expect(second).toBeGreaterThanOrEqual(first)
      expect(second).toBeLessThanOrEqual(third)
      await sandbox.clock.freeze()
    }
  })
  await fc.assert(property, { numRuns })
}
