import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Transaction } from '../../src/domain/records.ts'
import type { FaultRule } from '../../src/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { outcome } from '../helpers/outcome.ts'
import { type Answer, type Ask, Partner } from '../helpers/partner.ts'
import { Ledger, type OpenSandbox, openSandbox } from './ledger.ts'

const START = '2030-01-01T00:00:00.000Z'
const DELAY = 10_000
const KEYS = Array.from({ length: 4 }, () => randomUUID())

let open: OpenSandbox
let ledger: Ledger
const warnings: string[] = []
const warn = ({ message }: Error) => warnings.push(message)
beforeAll(async () => {
  process.on('warning', warn)
  open = await openSandbox({ confirmationDelay: DELAY, clock: START })
  ledger = new Ledger(open)
})
afterEach(() => control('POST', 'reset'))
afterAll(async () => {
  process.off('warning', warn)
  await open?.stop()
})

const clock = () => open.sandbox.namespace.services.service.clock
const faults = () => open.sandbox.namespace.services.faults
const control = async (method: string, path: string) => {
  const response = await fetch(`${open.sandbox.baseUrl}/_sandbox/${path}`, { method })
  return { status: response.status, body: await response.json() }
}

/** How a request ended: `503 sandbox_starting, retry-after 1`, or that its connection was dropped. */
async function endOf(request: Promise<Answer>): Promise<string> {
  try {
    const answer = await request
    const retryAfter = answer.headers.get('retry-after')
    return retryAfter === null ? outcome(answer) : `${outcome(answer)}, retry-after ${retryAfter}`
  } catch {
    return 'dropped'
  }
}

/** Asks again, with the same key, while the chain is late: on a busy machine it may be. */
function insist(ask: () => Promise<Answer>): Promise<Answer> {
  return eventually(async () => {
    const answer = await ask()
    expect(outcome(answer)).not.toMatch(/^503/)
    return answer
  })
}

/** Whether a fault has struck the request that was the first to bring a key. */
function struck(key: string): boolean {
  const { exchanges } = open.sandbox.namespace.services
  return exchanges.all().find(({ idempotency }) => idempotency?.key === key)?.faults.length === 1
}

/** A transfer that is carried out and confirmed, by this very request. */
async function carriedOut(ask: () => Promise<Answer>): Promise<void> {
  const [told] = faults().add([{ kind: 'latency', phase: 'after_broadcast', with: { delay: '0' } }], [])
  const request = insist(ask)
  await expect.poll(() => faults().list().at(-1)!.hits, { interval: 5 }).toBe(1)
  clock().advance(DELAY)
  const { status, headers } = await request
  expect({ status, replay: headers.get('idempotency-key-replay') }).toEqual({ status: 200, replay: 'false' })
  faults().remove(told!.id)
}

/** A portfolio with money in it, deposited under the first of the keys. */
async function funded(): Promise<string> {
  const jar = await open.acme.insistOnOpening('carol')
  await carriedOut(() => open.acme.deposit('carol', jar, '9000', { key: KEYS[0]! }))
  return jar
}

async function lastOfCarol(): Promise<Transaction | undefined> {
  const carol = (await ledger.users()).find(({ external_id }) => external_id === 'carol')!
  return (await ledger.transactions(carol))[0]
}

const CANCELLED = '503 sandbox_starting, retry-after 1'
const HOLDING: [FaultRule | string | undefined, first: string][] = [
  [undefined, CANCELLED],
  [{ kind: 'stuck' }, CANCELLED],
  [{ kind: 'slow_confirmation', with: { delay: '8d' } }, CANCELLED],
  [{ kind: 'latency', phase: 'before_broadcast', with: { delay: '8d' } }, CANCELLED],
  [{ kind: 'latency', phase: 'after_broadcast', with: { delay: '8d' } }, CANCELLED],
  [{ kind: 'chain_down', phase: 'after_broadcast' }, CANCELLED],
  [{ kind: 'hang', phase: 'before_broadcast' }, 'dropped'],
  [{ kind: 'hang', phase: 'after_broadcast' }, 'dropped'],
  ['stuck', CANCELLED],
  ['latency; phase=before_broadcast; delay=8d', CANCELLED],
  ['hang; phase=after_broadcast', 'dropped'],
]

describe('a reset while a transfer runs', () => {
  test.each(HOLDING)('held by %j: whoever waits is let go, and nothing of it is left', async (fault, first) => {
    const jar = await funded()
    const earlier = await lastOfCarol()
    const headers: Ask = typeof fault === 'string' ? { headers: { 'x-sandbox-fault': fault } } : {}
    if (typeof fault === 'object') faults().add([{ ...fault, match: { operation: 'deposit' } }], [])
    const phase = String(typeof fault === 'string' ? fault : fault?.phase).includes('before') ? 'before' : 'after'
    const requests = [open.acme.deposit('carol', jar, '1000', { key: KEYS[1]!, ...headers })]
    // The first is as far as it gets.
    if (phase === 'after') await expect.poll(() => ledger.unsettled()).toBe(1)
    else await expect.poll(() => open.sandbox.namespace.services.service.transfers.runs(jar)).toBe(true)
    if (typeof fault === 'object') await expect.poll(() => faults().list()[0]!.hits).toBe(1)
    if (typeof fault === 'string') await expect.poll(() => struck(KEYS[1]!)).toBe(true)
    // Joined to it, queued behind it, joined to what is queued.
    requests.push(
      open.acme.deposit('carol', jar, '1000', { key: KEYS[1]! }),
      open.acme.deposit('carol', jar, '2000', { key: KEYS[2]! }),
      open.acme.withdraw('carol', jar, '500', { key: KEYS[3]! }),
      open.acme.deposit('carol', jar, '2000', { key: KEYS[2]! }),
    )
    const ends = requests.map(endOf)
    await control('GET', 'health')
    clock().advance(3_000)
    expect((await control('POST', 'reset')).body).toEqual({ ready: true })
    expect(await Promise.all(ends)).toEqual([first, ...requests.slice(1).map(() => CANCELLED)])
    await expectFresh()
    // The same requests get the same ids and hashes, and no key is known.
    expect(await funded()).toBe(jar)
    expect(await lastOfCarol()).toEqual(earlier)
    for (const key of KEYS.slice(1)) await carriedOut(() => open.acme.withdraw('carol', jar, '7', { key }))
    await ledger.expectSound()
  })

  test('fifty portfolios wait for their confirmation: each client is answered, nobody is warned of', async () => {
    const jars = await Promise.all(Array.from({ length: 50 }, (_, i) => open.acme.open(`user-${i}`)))
    const ends = jars.map((jar, i) => endOf(open.acme.deposit(`user-${i}`, jar, '1000')))
    await expect.poll(() => ledger.unsettled()).toBe(50)
    await control('POST', 'reset')
    expect(new Set(await Promise.all(ends))).toEqual(new Set([CANCELLED]))
    await expectFresh()
    expect(warnings).toEqual([])
  })

  test('eight days on, with a chain that is down, a pool that is paused and a yield that was changed', async () => {
    const jar = await funded()
    clock().advance(8 * 86_400_000)
    const match = { operation: 'list_pools' } as const
    const aave = { pool: 'aave-usdc' }
    faults().add(
      [
        { kind: 'apy_change', phase: 'on_request', match, with: { ...aave, apy: 2 } },
        { kind: 'pool_paused', phase: 'on_request', match, with: aave },
        { kind: 'chain_down', phase: 'on_request', match },
      ],
      [],
    )
    for (let i = 0; i < 3; i++) await open.acme.get('pools')
    const struck = faults().list()
    expect(struck.map(({ hits }) => hits)).toEqual([1, 1, 1])
    expect(await endOf(open.acme.deposit('carol', jar, '1000'))).toMatch(/^503 chain_unavailable/)
    expect((await control('GET', 'ready')).status).toBe(503)
    expect((await control('POST', 'reset')).body).toEqual({ ready: true })
    await expectFresh()
    expect(await funded()).toBe(jar)
    expect((await open.acme.pool('aave-usdc')).apy).toMatch(/^0\.0/)
  })
})

/** Nothing but the fixture: no fault, no transfer, no key, and the clock where it started. */
async function expectFresh(): Promise<void> {
  expect((await control('GET', 'faults')).body).toEqual([])
  expect((await control('GET', 'clock')).body).toMatchObject({ now: START, frozen: true })
  expect((await ledger.users()).map(({ external_id }) => external_id)).toEqual(['alice'])
  await ledger.expectSound()
  open.acme = new Partner(open.acme.sandbox)
}
