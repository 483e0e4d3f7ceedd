import { expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { isOpen, mined } from '../helpers/confirmation.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

/** A run that draws on everything random: ids, wallets, fault draws, confirmation delays, hashes. */
async function run(seed: number): Promise<unknown[]> {
  await using sandbox = await testSandbox({ seed, clock: '2030-01-01T00:00:00Z', confirmationDelay: '1s-9s' })
  const acme = new Partner(sandbox)
  const match = { operation: 'list_transactions' } as const
  sandbox.faults.add({ kind: 'bad_signature', match, times: 'always', probability: 0.5 })
  const user = await acme.post('end_users', { external_id: 'carol' })
  const created = await acme.post('end_users/carol/portfolios', await acme.portfolioBody('morpho-usdc'))
  const seen = [user.body, created.body, (await acme.get('end_users/alice/portfolios')).body]
  for (const amount of ['1000000', '2000000', '3000000']) {
    const { request } = await mined(sandbox, () => acme.deposit('carol', created.body.portfolio_id, amount))
    seen.push({ seconds: await secondsUntilAnswered(sandbox, request), deposit: (await request).body })
    for (let i = 0; i < 3; i++) {
      const { status, body } = await acme.get('end_users/carol/transactions')
      seen.push(status === 200 ? body.data : status)
    }
  }
  const { hash } = await sandbox.chain.getBlock()
  return [...seen, hash]
}

async function secondsUntilAnswered(sandbox: SandboxHandle, request: Promise<unknown>): Promise<number> {
  let seconds = 0
  while (await isOpen(sandbox, request)) {
    sandbox.clock.advance(1000)
    seconds++
  }
  return seconds
}

test('the same seed, clock and requests give the same ids, hashes, delays, faults and blocks', async () => {
  const [first, second, other] = [await run(11), await run(11), await run(12)]
  expect(second).toEqual(first)
  expect(other).not.toEqual(first)
})
