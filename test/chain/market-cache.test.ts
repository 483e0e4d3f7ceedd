import { expect, test } from 'vitest'
import { MarketCache } from '../../src/chain/markets/market-reads.ts'
import type { ChainReader } from '../../src/chain/reading/chain-reader.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { MarketFigures } from '../../src/domain/ports/chain.ts'
import type { Pool } from '../../src/domain/records.ts'

// Without a chain: moving the sandbox clock of one that runs makes a block, and every block has the figures read again.
function workbench() {
  const clock = new SandboxClock(0)
  const state = { version: 1 }
  const cache = new MarketCache(state as ChainReader, clock)
  const pool = (market_address: string) =>
    ({ protocol: 'aave', market_address, token_address: '0x2' }) as unknown as Pool
  let readings = 0
  const read = (of = '0x1') => cache.get(pool(of), async () => ({ reading: ++readings }) as unknown as MarketFigures)
  return { cache, clock, state, pool, read }
}

test('figures are read once and shared, by market', async () => {
  const { read } = workbench()
  expect(await Promise.all([read(), read()])).toEqual([{ reading: 1 }, { reading: 1 }])
  expect(await read('0x3')).toEqual({ reading: 2 })
  expect(await read()).toEqual({ reading: 1 })
})

test('figures are read again after a change of the chain', async () => {
  const { read, state } = workbench()
  await read()
  state.version++
  expect(await read()).toEqual({ reading: 2 })
})

test('figures are read again when they are five seconds old', async () => {
  const { clock, read } = workbench()
  await read()
  clock.advance(4_999)
  expect(await read()).toEqual({ reading: 1 })
  clock.advance(1)
  expect(await read()).toEqual({ reading: 2 })
})

test('figures that could not be read are not kept', async () => {
  const { cache, pool, read } = workbench()
  await expect(cache.get(pool('0x1'), () => Promise.reject(new Error('silent')))).rejects.toThrow('silent')
  expect(await read()).toEqual({ reading: 1 })
})

test('the moment is the same until the clock goes on or the chain changes, and as long as it is, so are the figures', async () => {
  const { cache, clock, state, read } = workbench()
  const { moment } = cache
  await read()
  expect(cache.moment).toBe(moment)
  expect(await read()).toEqual({ reading: 1 })
  state.version++
  const changed = cache.moment
  expect(changed).not.toBe(moment)
  clock.advance(1)
  expect(cache.moment).not.toBe(changed)
})
