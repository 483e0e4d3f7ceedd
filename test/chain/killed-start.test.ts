import { afterAll, describe, expect, it } from 'vitest'
import { anvilsOf } from '../helpers/anvils.ts'
import { alice, type ChainFixture, order, startChain } from './chain-fixture.ts'

describe('an Anvil that is killed while it starts', () => {
  // While one of their Anvils is left, the next one is looked after by the same watchdog.
  const fixtures: ChainFixture[] = []
  afterAll(() => Promise.all(fixtures.map(({ chains }) => chains.stop())))

  it.each([0, 20, 60, 120])('is followed by another one: %i ms after it appeared', async (moment) => {
    const others = new Set(anvilsOf(process.pid))
    const starting = startChain()
    let own: number | undefined
    while (own === undefined) {
      await new Promise(setImmediate)
      own = anvilsOf(process.pid).find((pid) => !others.has(pid))
    }
    const until = performance.now() + moment
    while (performance.now() < until) await new Promise(setImmediate)
    process.kill(own, 'SIGKILL')
    const fixture = await starting
    fixtures.push(fixture)
    const { chain } = fixture
    // The start may have been over by then.
    await expect.poll(() => chain.status.ok && chain.pid !== own).toBe(true)
    await fixture.fund(alice)
    const deposit = order('deposit', fixture.pool('aave USDC'), 1_000n)
    expect(await chain.transfer(deposit)).toMatchObject({ status: 'success' })
  })
})
