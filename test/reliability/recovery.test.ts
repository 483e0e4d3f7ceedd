import { describe, expect, test, vi } from 'vitest'
import { ChainUnavailableError } from '../../src/domain/ports/chain.ts'
import { Ledger } from './ledger.ts'
import {
  CASES,
  chainOf,
  die,
  died,
  diesAgain,
  expectWhole,
  finishedOnce,
  finishedTogether,
  openBoth,
  order,
  POOLS,
  place,
  portfolio,
  recover,
  STAGES,
  type Stage,
  whole,
} from './recoveries.ts'

openBoth()

// Every case at every stage with both pools, and several portfolios at every stage: recovery.long.test.ts.
describe.each(STAGES)('the sandbox dies when a transfer is %s', (stage) => {
  test.each(CASES.map((each, i) => [each[0], POOLS[i % 2]!, each] as const).filter((_, i) => isTold(stage, i)))(
    '%s (%s) is finished once, and answered as if nothing had happened',
    (_, pool, each) => finishedOnce(stage, pool, each),
  )
})

/** A deposit is tried at every stage, each other case at one. */
function isTold(stage: Stage, nth: number): boolean {
  return nth === 0 || STAGES[nth % STAGES.length] === stage
}

test('portfolios of one wallet are finished together', () => finishedTogether('broadcast'))

test('dying again in the middle of it changes nothing', () => diesAgain('signed'))

describe('while the chain is silent', () => {
  test('transfers wait for it', async () => {
    const asked = order('deposit', await portfolio('aave-usdc'), '1000000')
    const answer = await place(whole, asked)
    await die('signed')
    chainOf(died).pause()
    const recovering = recover(died)
    await expect.poll(() => chainOf(died).status.ok).toBe(false)
    chainOf(died).resume()
    await recovering
    await expectWhole([asked], [answer])
  })

  test('whoever asks for them is told, and may ask again', async () => {
    const asked = order('deposit', await portfolio('aave-usdc'), '1000000')
    const answer = await place(whole, asked)
    await die('signed')
    // As the chain refuses while it carries others through.
    const chain = chainOf(died)
    vi.spyOn(chain, 'finish').mockRejectedValueOnce(new ChainUnavailableError(chain.chain_id, 'it does not answer'))
    await expect(recover(died)).rejects.toThrow(ChainUnavailableError)
    expect(await new Ledger(died).unsettled()).toBe(1)
    await recover(died)
    await expectWhole([asked], [answer])
  })

  test('a reset calls them off', async () => {
    const asked = order('deposit', await portfolio('aave-usdc'), '1000000')
    await place(whole, asked)
    await die('signed')
    chainOf(died).pause()
    const recovering = recover(died)
    await expect.poll(() => chainOf(died).status.ok).toBe(false)
    await died.sandbox.namespace.reset()
    await recovering
    await new Ledger(died).expectSound()
  })
})

test('a transfer that can never be mined is left for the audit to name, and keeps nobody waiting', async () => {
  const jars = [await portfolio('aave-usdc'), await portfolio('aave-usdc')]
  await place(whole, order('deposit', jars[0]!, '1000000'))
  await died.acme.deposit('carol', jars[0]!, '7') // takes its place among the wallet's transactions
  await die('signed')
  await recover(died)
  expect(await new Ledger(died).unsettled()).toBe(1)
  const { checks } = await died.sandbox.namespace.audit()
  expect(checks.find(({ id }) => id === 'transfers')).toMatchObject({ ok: false })
  expect((await died.acme.deposit('carol', jars[1]!, '7')).status).toBe(200)
})
