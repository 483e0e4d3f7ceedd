import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { Exchange } from '../../src/domain/exchange.ts'
import { FaultEngine } from '../../src/faults/fault-engine.ts'
import type { FaultRule, SandboxHandle } from '../../src/index.ts'
import { SeededRandom } from '../../src/support/random.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { anExchange } from './an-exchange.ts'

/** Real time stands where a test puts it. */
class StillClock extends SandboxClock {
  wall = Date.UTC(2026, 0, 1)

  override wallNow(): number {
    return this.wall
  }
}

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const attempt = (given: Partial<Exchange> = {}) => ({
  operation: 'deposit' as const,
  external_id: 'alice',
  idempotency_key: 'a',
  ...given,
})

describe('an outage', () => {
  let clock: StillClock
  let faults: FaultEngine
  beforeEach(() => {
    clock = new StillClock()
    const chains = { get: () => undefined, all: () => [], walletAddress: () => '0x' as const }
    faults = new FaultEngine({ clock, random: new SeededRandom(7), chains, pools: [], forks: [], log: silent })
  })

  /** Sends exchanges one after another; a letter each: what was struck is `x`. */
  async function pattern(exchanges: readonly Partial<Exchange>[]): Promise<string> {
    let seen = ''
    for (const given of exchanges) {
      const one = anExchange(given)
      for (const phase of ['on_request', 'during_response'] as const) await faults.at(phase, one).catch(() => undefined)
      seen += one.struckBy === undefined ? '.' : 'x'
    }
    return seen
  }
  const begin = (rule: Partial<FaultRule> = {}) =>
    faults.add([{ kind: 'outage', phase: 'during_response', ...rule }], ['acme', 'globex'])

  test.each(['on_request', 'during_response'] as const)('at %s loses twelve attempts under one key', async (phase) => {
    begin({ phase })
    expect(await pattern(Array.from({ length: 15 }, () => attempt()))).toBe('xxxxxxxxxxxx...')
  })

  test('ends with another key, for good', async () => {
    begin()
    const keys = ['a', 'a', 'b', 'b', 'a']
    expect(await pattern(keys.map((idempotency_key) => attempt({ idempotency_key })))).toBe('xx...')
  })

  test("ends when the end user's transactions are asked for", async () => {
    begin()
    const look = { operation: 'list_transactions', external_id: 'alice' } as const
    expect(await pattern([attempt(), { ...look, external_id: 'bob' }, attempt(), look, attempt()])).toBe('x.x..')
  })

  test('goes on over whatever else is asked', async () => {
    begin()
    const others: Partial<Exchange>[] = [
      { operation: 'list_portfolios', external_id: 'alice' },
      attempt({ operation: 'withdraw', idempotency_key: 'b' }),
      attempt({ external_id: 'bob', idempotency_key: 'b' }),
      attempt({ tenant: 'globex', idempotency_key: 'b' }),
    ]
    expect(await pattern([attempt(), ...others, attempt()])).toBe('x....x')
  })

  test('ends after thirty seconds in which nothing came, and not before', async () => {
    begin()
    expect(await pattern([attempt()])).toBe('x')
    clock.wall += 29_999
    expect(await pattern([attempt()])).toBe('x')
    clock.wall += 29_999
    expect(await pattern([attempt()])).toBe('x')
    clock.wall += 30_000
    expect(await pattern([attempt()])).toBe('.')
  })

  test('is one hit however many it loses; times says how many there are', async () => {
    begin({ times: 2 })
    const keys = ['a', 'a', 'b', 'b', 'c', 'c']
    expect(await pattern(keys.map((idempotency_key) => attempt({ idempotency_key })))).toBe('xxxx..')
    expect(faults.list()).toMatchObject([{ hits: 2 }])
  })

  test('leaves its attempts to no later rule, and goes by ordinal only for the first of them', async () => {
    begin({ match: { operation: 'deposit', ordinal: 2 } })
    faults.add([{ kind: 'unknown_fields', times: 'always', match: { operation: 'deposit' } }], [])
    const struck: (string | undefined)[] = []
    for (let i = 0; i < 4; i++) {
      const one = anExchange(attempt())
      for (const phase of ['on_request', 'during_response'] as const) await faults.at(phase, one)
      struck.push(one.struckBy?.kind)
    }
    expect(struck).toEqual(['unknown_fields', 'outage', 'outage', 'outage'])
  })

  test('is over when it is taken away', async () => {
    begin()
    expect(await pattern([attempt(), attempt()])).toBe('xx')
    faults.clear()
    expect(await pattern([attempt()])).toBe('.')
  })
})

describe('over HTTP', () => {
  let sandbox: SandboxHandle
  let acme: Partner
  let portfolio: string
  beforeAll(async () => {
    sandbox = await testNamespace()
    acme = new Partner(sandbox)
  })
  afterAll(() => sandbox.stop())
  beforeEach(async () => {
    portfolio = await acme.open('dan')
  })
  afterEach(() => sandbox.faults.clear())

  const deposit = (key: string) => acme.deposit('dan', portfolio, '1000', { key }).then(outcome, () => 'lost')
  const deposits = async () => {
    const { data } = (await acme.get('end_users/dan/transactions?limit=100')).body
    return data.filter((one: { portfolio_id: string }) => one.portfolio_id === portfolio).length
  }

  test.each([
    ['after_broadcast', 'lost', 'lost'],
    ['during_response', 'lost', 'lost'],
    ['after_broadcast', 'unavailable', '503 service_unavailable'],
    ['during_response', 'unavailable', '503 service_unavailable'],
    ['on_request', 'lost', 'lost'],
    ['on_request', 'unavailable', '503 service_unavailable'],
  ] as const)('%s, %s: a job that is queued again under a new key after six attempts', async (phase, how, came) => {
    const match = { operation: 'deposit', external_id: 'dan' } as const
    const [rule] = await sandbox.faults.add({ kind: 'outage', phase, match, with: { how } })
    const [key, fresh] = [randomUUID(), randomUUID()]
    for (let i = 0; i < 6; i++) expect(await deposit(i % 2 === 0 ? key : key.toUpperCase())).toBe(came)
    expect(await deposit(fresh)).toBe('200')
    expect(await deposit(key)).toBe('200')
    expect(await deposits()).toBe(2)
    const { data } = await sandbox.requests.list({ operation: 'deposit', limit: 100 })
    expect(data.filter(({ faults }) => faults[0]?.id === rule!.id)).toHaveLength(6)
    expect(await sandbox.faults.list()).toMatchObject([{ hits: 1 }])
  })

  test('on_request nothing happens; else the transfer is carried out behind the lost answer', async () => {
    for (const [phase, done] of [
      ['on_request', 0],
      ['after_broadcast', 1],
    ] as const) {
      await sandbox.faults.clear()
      portfolio = await acme.open('dan')
      await sandbox.faults.add({ kind: 'outage', phase })
      const key = randomUUID()
      expect([await deposit(key), await deposit(key), await deposits()]).toEqual(['lost', 'lost', done])
      // It was asked for: the outage is over.
      expect([await deposit(key), await deposits()]).toEqual(['200', 1])
    }
  })
})
