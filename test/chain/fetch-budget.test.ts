import { numberToHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { FetchBudget } from '../../src/chain/fork/fetch-budget.ts'
import { CALL_FETCHES, CALL_TIME } from '../../src/chain/json-rpc/rpc-budget.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import { PATIENCE } from '../helpers/patience.ts'
import { rpc, startChain } from './chain-fixture.ts'

const never = new Promise(() => {})
const balance = (budget: FetchBudget, address: unknown) => budget.admit('eth_getBalance', address)

describe('what a node may fetch', () => {
  it('is anything while nobody else makes a call', () => {
    const budget = new FetchBudget(new SandboxClock())
    for (let account = 0; account < 2 * CALL_FETCHES; account++) expect(balance(budget, account)).toBe(true)
    const end = budget.begin(never)
    end()
    for (let account = 0; account < 2 * CALL_FETCHES; account++) expect(balance(budget, account)).toBe(true)
    expect(budget.failures).toBe(0)
  })

  it('is so much during a call, and then one account is refused, whatever of it is asked for', () => {
    const budget = new FetchBudget(new SandboxClock())
    const end = budget.begin(never)
    for (let account = 0; account < CALL_FETCHES; account++) {
      expect(balance(budget, account)).toBe(true)
      expect(budget.admit('eth_getCode', account)).toBe(true)
    }
    expect(balance(budget, 'last')).toBe(false)
    for (const method of ['eth_getBalance', 'eth_getTransactionCount']) expect(budget.admit(method, 'last')).toBe(false)
    expect(balance(budget, 'other')).toBe(true) // that of somebody who waits for a block
    end()
    expect(balance(budget, 'last')).toBe(true)
    expect(budget.failures).toBe(1)
  })

  it('is refused once, and once more after a while, when a call was given up and goes on', async () => {
    const budget = new FetchBudget(new SandboxClock())
    const end = budget.begin(Promise.resolve())
    await Promise.resolve()
    expect([balance(budget, 1), balance(budget, 2), balance(budget, 3)]).toEqual([false, true, true])
    await expect.poll(() => balance(budget, 4), { interval: 20 }).toBe(false)
    end()
    expect([1, 2, 3, 4].map((account) => balance(budget, account))).toEqual([true, true, true, true])
  })

  it('counts what the real chain of a fork failed as well', () => {
    const real = { failures: 3, failure: 'it is down', forward: async () => '' }
    const budget = new FetchBudget(new SandboxClock(), real)
    const end = budget.begin(never)
    for (let account = 0; account <= CALL_FETCHES; account++) balance(budget, account)
    end()
    expect(budget).toMatchObject({ failures: 4, failure: 'it is down' })
  })
})

/** Gives calls as long as they need, however busy the machine is. */
class PatientClock extends SandboxClock {
  override wallSleep(milliseconds: number): Promise<void> {
    return super.wallSleep(milliseconds === CALL_TIME ? PATIENCE : milliseconds)
  }
}

it('ends a call that reads more than that, which then goes on where it ended', async () => {
  const { chain, chains } = await startChain({ clock: new PatientClock(), rpcTimeout: PATIENCE })
  try {
    const more = numberToHex(CALL_FETCHES + 100, { size: 3 }).slice(2)
    const address = '0x00000000000000000000000000000000000000aa'
    // Counts up, and reads the slot of each number: 1 ADD DUP1 SLOAD POP DUP1 `more` GT JUMPI.
    const code = `0x5f5b6001018054508062${more}11600157`
    const call = () => rpc(chain, 'eth_call', { to: address }, 'latest', { [address]: { code } })
    await expect(call()).rejects.toThrow(`not fetched: a call reads at most ${CALL_FETCHES} accounts and slots`)
    expect(await call()).toBe('0x')
  } finally {
    await chains.stop()
  }
})
