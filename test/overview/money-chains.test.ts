import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MoneyOverview } from '../../src/control/contract.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { forked } from '../chain/forked-fixture.ts'
import { roundTrips } from '../chain/round-trips.ts'
import { startUpstream, type UpstreamChain } from '../chain/upstream-chain.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

const fixtures = fileURLToPath(new URL('../../fixtures/multi-chain.yaml', import.meta.url))

async function moneyOf({ baseUrl }: SandboxHandle): Promise<MoneyOverview> {
  return (await (await fetch(`${baseUrl}/_sandbox/money`)).json()) as MoneyOverview
}

describe('on two chains', () => {
  let sandbox: SandboxHandle
  let acme: Partner
  beforeAll(async () => {
    sandbox = await testSandbox({ fixtures })
    acme = new Partner(sandbox)
  })
  afterAll(() => sandbox.stop())

  /** Requests to the chains during an overview. The markets' figures are not kept as long as the clock is moved. */
  const ofOverview = () => roundTrips(() => moneyOf(sandbox), { before: () => sandbox.clock.advance(60_000) })

  test('a dozen end users with three portfolios each take as many round trips as one', async () => {
    const open = async (user: string) => {
      for (const pool of ['north-aave-usdc', 'north-morpho-usdc', 'south-morpho-weth']) {
        const jar = await acme.insistOnOpening(user, pool)
        expect((await acme.deposit(user, jar, '1000000')).status).toBe(200)
      }
    }
    await open('ann')
    const few = await ofOverview()
    for (let i = 0; i < 12; i++) await open(`user-${i}`)
    expect((await moneyOf(sandbox)).end_users.length).toBeGreaterThan(12)
    // Now and then the sandbox looks for foreign transactions in between, once for each chain.
    expect(await ofOverview()).toBeLessThanOrEqual(few + 2)
    expect(few).toBeGreaterThan(0)
    expect(few).toBeLessThan(20)
  })

  test('one that is down hides its own values alone', async () => {
    await sandbox.faults.add({ kind: 'chain_down', match: { operation: 'deposit' }, phase: 'before_broadcast' })
    const { data } = (await acme.get('end_users/ann/portfolios')).body
    const south = data.find(({ chain_id }: { chain_id: string }) => chain_id === '31338')
    expect((await acme.deposit('ann', south.portfolio_id, '1000000')).status).toBe(503)
    const { unavailable, pools, end_users, checks } = await moneyOf(sandbox)
    expect(unavailable).toEqual([{ chain_id: '31338', reason: 'paused by a fault' }])
    for (const { chain_id, apy } of pools) expect(apy === null).toBe(chain_id === '31338')
    const ann = end_users.find(({ external_id }) => external_id === 'ann')!
    for (const { chain_id, balance_minor, principal_minor } of ann.portfolios) {
      expect(principal_minor).toBe('1000000')
      expect(balance_minor === null).toBe(chain_id === '31338')
    }
    expect(checks).toBeNull()
  })
})

describe('on a fork', () => {
  let upstream: UpstreamChain
  let sandbox: SandboxHandle
  beforeAll(async () => {
    upstream = await startUpstream('8453')
    sandbox = await sandboxWith(forked(upstream))
  })
  afterAll(async () => {
    await sandbox?.stop()
    await upstream?.stop()
  })

  test('money is shown as on an embedded chain, with the tokens that the real market holds', async () => {
    const { pools, end_users, checks } = await moneyOf(sandbox)
    expect(checks).toEqual({ held: 7, all: 7 })
    const aave = pools.find(({ tenant, pool_id }) => tenant === 'acme' && pool_id === 'aave-usdc')!
    expect(aave.chain_id).toBe('8453')
    expect(Number(aave.liquidity_minor)).toBeGreaterThan(2_500_000_000)
    expect(end_users[0]!.portfolios[0]!.series).toHaveLength(4)
  })
})
