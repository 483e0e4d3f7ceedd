import { expect } from 'vitest'
import type { Hex } from '../../src/domain/records.ts'
import { eventually } from '../helpers/eventually.ts'
import { type ChainFixture, order, rpc } from './chain-fixture.ts'

/** Longer than any test: only {@link rested} has a chain rest. */
export const NEVER_BY_ITSELF = 1_000_000
export const DAY = 86_400_000
export const START = Date.UTC(2030, 0, 1)

export async function rested({ chain }: ChainFixture, forgetting = false): Promise<void> {
  await eventually(async () => expect(await chain.rest(forgetting)).toBe(true))
  expect(chain.awake).toBe(false)
  expect(chain.status).toEqual({ ok: true })
}

/** Every block with its transactions and receipts. */
export async function story({ chain }: ChainFixture): Promise<unknown[]> {
  const first = Number(
    await rpc<Hex>(chain, 'eth_getBlockByNumber', 'earliest', false)
      .then(Object)
      .then((b) => b.number),
  )
  const last = Number(await rpc<Hex>(chain, 'eth_blockNumber'))
  const told: unknown[] = []
  for (let number = first; number <= last; number++) {
    const hex = `0x${number.toString(16)}`
    told.push(await rpc(chain, 'eth_getBlockByNumber', hex, true), await rpc(chain, 'eth_getBlockReceipts', hex))
  }
  return told
}

export const deposit = ({ chain, pool }: ChainFixture, amount = 1_000_000n) =>
  chain.transfer(order('deposit', pool('aave USDC'), amount))
