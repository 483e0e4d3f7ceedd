import { afterEach, expect, test, vi } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** A run that draws on everything random: ids, wallets, fault draws, confirmation delays, hashes. */
async function run(seed: number): Promise<unknown[]> {
  await using sandbox = await testSandbox({ seed, clock: '2030-01-01T00:00:00Z', confirmationDelay: '1s-9s' })
  const delays = elapseDelays()
  const acme = new Partner(sandbox)
  const match = { operation: 'list_transactions' } as const
  await sandbox.faults.add({ kind: 'bad_signature', match, times: 'always', probability: 0.5 })
  const user = await acme.post('end_users', { external_id: 'carol' })
  const created = await acme.post('end_users/carol/portfolios', await acme.portfolioBody('morpho-usdc'))
  const seen = [user.body, created.body, (await acme.get('end_users/alice/portfolios')).body]
  for (const amount of ['1000000', '2000000', '3000000']) {
    seen.push((await acme.deposit('carol', created.body.portfolio_id, amount)).body)
    for (let i = 0; i < 3; i++) {
      const { status, body } = await acme.get('end_users/carol/transactions')
      seen.push(status === 200 ? body.data : status)
    }
  }
  await sandbox.clock.advance(0) // the block of the clock's last move is there
  const { hash } = await sandbox.chain.getBlock()
  vi.restoreAllMocks()
  return [...seen, delays, hash]
}

/** Lets every delay elapse the moment it begins; returns the delays, in milliseconds, as they are drawn. */
function elapseDelays(): number[] {
  const delays: number[] = []
  const { sleep } = SandboxClock.prototype
  vi.spyOn(SandboxClock.prototype, 'sleep').mockImplementation(function (this: SandboxClock, milliseconds, ...signals) {
    delays.push(milliseconds)
    const slept = sleep.call(this, milliseconds, ...signals)
    this.advance(milliseconds)
    return slept
  })
  return delays
}

test('the same seed, clock and requests give the same ids, hashes, delays, faults and blocks', async () => {
  const [first, second, other] = [await run(11), await run(11), await run(12)]
  expect(second).toEqual(first)
  expect(other).not.toEqual(first)
  expect(first.at(-2)).toHaveLength(3)
})
