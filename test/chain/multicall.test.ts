import { numberToHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RpcClient, RpcError } from '../../src/chain/json-rpc/rpc-client.ts'
import { AnvilProcess } from '../../src/chain/node/anvil-process.ts'
import { ChainReader } from '../../src/chain/reading/chain-reader.ts'
import { MOST_VIEWS, multicall, outcomesOf } from '../../src/chain/reading/multicall.ts'
import { later, type Read } from '../../src/chain/reading/view.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { Hex } from '../../src/domain/records.ts'
import { silent } from './chain-fixture.ts'

const code = {
  /** Returns its input. */
  echo: '0x366000600037366000f3',
  /** Returns the block's timestamp. */
  clock: '0x4260005260206000f3',
  /** Reverts with 0xdeadbeef. */
  refuses: '0x63deadbeef6000526004601cfd',
  /** Uses up all gas. */
  loops: '0x5b600056',
  /** Returns 64 KiB, and reverts with as much. */
  lengthy: '0x620100006000f3',
  refusesAtLength: '0x620100006000fd',
} as const
/** What each view of a call has: one that loops would use up 100 times as much alone, for seconds. */
const GAS = numberToHex(3_000_000)
const at = (index: number): Hex => numberToHex(0xc0de00 + index, { size: 20 })
const [echo, clock, refuses, loops, lengthy, refusesAtLength, nobody] = Array.from({ length: 7 }, (_, index) =>
  at(index),
) as [Hex, Hex, Hex, Hex, Hex, Hex, Hex]

const time = new SandboxClock()
let anvil: AnvilProcess
let rpc: RpcClient
beforeAll(async () => {
  anvil = await AnvilProcess.start({ chainId: '31337', clock: time, log: silent })
  rpc = new RpcClient({ chainId: '31337', url: anvil.url })
  await rpc.batch(Object.values(code).map((bytes, index) => ['anvil_setCode', at(index), bytes]))
})
afterAll(async () => {
  rpc.close()
  await anvil.stop()
})

test('every view ends as if it were called alone, whatever becomes of its neighbours', async () => {
  const data: Hex[] = ['0x', '0x01', `0x${'ab'.repeat(31)}`, `0x${'cd'.repeat(32)}`, `0x${'ef'.repeat(1000)}`]
  const views = data.flatMap((input) => [echo, refuses, nobody, loops, echo].map((to) => ({ to, data: input })))
  const output = await rpc.call<Hex>(...multicall(views, 2_000_000_000))
  const outcomes = outcomesOf(output, views.length)
  for (const [i, { to, data: input }] of views.entries()) {
    const call = { to, data: input, gas: GAS }
    const alone = await rpc.call<Hex>('eth_call', call, 'latest').catch((error: RpcError) => error)
    const outcome = outcomes[i]
    if (!(alone instanceof RpcError)) expect(outcome).toBe(alone)
    else expect(outcome).toBeInstanceOf(RpcError)
    if (to === refuses) expect(outcome).toMatchObject({ code: 3, data: '0xdeadbeef' })
  }
})

test('of what a view returns come 4,096 bytes: nobody can have gigabytes read by replacing a contract', async () => {
  const whole = `0x${'ab'.repeat(4_096)}` as Hex
  const views = [lengthy, echo, refusesAtLength, echo].map((to) => ({ to, data: whole }))
  const outcomes = outcomesOf(await rpc.call<Hex>(...multicall(views, 2_000_000_000)), views.length)
  const zeros = `0x${'00'.repeat(4_096)}`
  expect(outcomes).toEqual([zeros, whole, expect.objectContaining({ data: zeros }), whole])
  const longer = outcomesOf(await rpc.call<Hex>(...multicall([{ to: echo, data: `${whole}cd` }], 2_000_000_000)), 1)
  expect(longer).toEqual([whole])
})

test('more views than one call takes, each at its own moment, come in the order they were asked for', async () => {
  const reader = new ChainReader(rpc, time)
  await reader.refresh()
  const seconds: Read<bigint> = { to: clock, data: '0x', decode: BigInt }
  const reads = Array.from({ length: 2 * MOST_VIEWS + 10 }, (_, i): Read<bigint> => {
    return i % 3 === 0 ? later(seconds, i) : { to: echo, data: numberToHex(i, { size: 32 }), decode: BigInt }
  })
  const { timestamp, values } = await reader.snapshot(reads)
  expect(values).toEqual(reads.map((_, i) => BigInt(i % 3 === 0 ? timestamp + i : i)))
})

test('a view that cannot be read spoils no other', async () => {
  const reader = new ChainReader(rpc, time)
  const as = (to: Hex): Read<bigint> => ({ to, data: '0x07', decode: BigInt })
  const { values } = await reader.snapshot([as(echo), as(loops), as(refuses), as(echo)])
  expect(values).toEqual([7n, expect.any(RpcError), expect.any(RpcError), 7n])
  await expect(reader.read([as(echo), as(refuses)])).rejects.toThrow('execution reverted')
})
