import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { FaultRule, SandboxHandle } from '../../src/index.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

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

const match = { operation: 'deposit' } as const
const deposit = (key: string = randomUUID()) =>
  acme.deposit('dan', portfolio, '1000', { key }).then(outcome, () => 'dropped')
const hits = async () => (await sandbox.faults.list()).map((rule) => rule.hits)

/** An error that can be told from others, at each phase. */
const AT: Record<string, [FaultRule, string]> = {
  on_request: [{ kind: 'error', phase: 'on_request', match, with: { status: 429 } }, '429 rate_limited'],
  before_broadcast: [
    { kind: 'error', phase: 'before_broadcast', match, with: { status: 503 } },
    '503 service_unavailable',
  ],
  after_broadcast: [{ kind: 'error', phase: 'after_broadcast', match, with: { status: 504 } }, '504 gateway_timeout'],
  after_confirmation: [{ kind: 'error', phase: 'after_confirmation', match, with: { status: 502 } }, '502 bad_gateway'],
  during_response: [
    { kind: 'error', phase: 'during_response', match, with: { code: 'internal_error' } },
    '500 internal_error',
  ],
}
const PAIRS = Object.keys(AT).flatMap((first) => Object.keys(AT).map((second) => [first, second] as const))

describe('of two rules that would strike one request', () => {
  test.each(PAIRS)('%s was added first and strikes; %s waits', async (first, second) => {
    await sandbox.faults.add(AT[first]![0], AT[second]![0])
    expect([await deposit(), await hits()]).toEqual([AT[first]![1], [1, 0]])
    expect([await deposit(), await hits()]).toEqual([AT[second]![1], [1, 1]])
    expect([await deposit(), await hits()]).toEqual(['200', [1, 1]])
  })

  test('the one that waits is neither skipped nor counted', async () => {
    await sandbox.faults.add(AT.after_broadcast![0], { ...AT.on_request![0], skip: 1 })
    expect([await deposit(), await hits()]).toEqual(['504 gateway_timeout', [1, 0]])
    expect([await deposit(), await hits()]).toEqual(['200', [1, 0]])
    expect([await deposit(), await hits()]).toEqual(['429 rate_limited', [1, 1]])
  })

  test('the second strikes while the first lets requests pass', async () => {
    await sandbox.faults.add({ ...AT.after_broadcast![0], skip: 1 }, { ...AT.on_request![0], times: 2 })
    expect([await deposit(), await hits()]).toEqual(['429 rate_limited', [0, 1]])
    // The request above never got as far as the first rule's phase: it was not one of those to be let through.
    expect([await deposit(), await hits()]).toEqual(['429 rate_limited', [0, 2]])
    expect([await deposit(), await hits()]).toEqual(['200', [0, 2]])
    expect([await deposit(), await hits()]).toEqual(['504 gateway_timeout', [1, 2]])
  })

  test('a first one that strikes always leaves nothing to the second', async () => {
    await sandbox.faults.add({ ...AT.after_confirmation![0], times: 'always' }, AT.on_request![0])
    for (const _ of [1, 2, 3]) expect(await deposit()).toBe('502 bad_gateway')
    expect(await hits()).toEqual([3, 0])
  })

  test('a chance is drawn once: where the first has none, the second strikes', async () => {
    await sandbox.faults.add(
      { ...AT.after_broadcast![0], probability: 0.5, times: 'always' },
      { ...AT.on_request![0], times: 'always' },
    )
    const ends: string[] = []
    for (let i = 0; i < 12; i++) ends.push(await deposit())
    expect(new Set(ends)).toEqual(new Set(['504 gateway_timeout', '429 rate_limited']))
    expect(await hits()).toEqual([
      ends.filter((end) => end.startsWith('504')).length,
      ends.filter((end) => end.startsWith('429')).length,
    ])
  })

  test('a request that never gets to the phase of the first is struck by the second', async () => {
    const key = randomUUID()
    expect(await deposit(key)).toBe('200')
    await sandbox.faults.add(AT.after_broadcast![0], AT.during_response![0])
    // A repetition broadcasts nothing.
    expect([await deposit(key), await hits()]).toEqual(['500 internal_error', [0, 1]])
    expect([await deposit(), await hits()]).toEqual(['504 gateway_timeout', [1, 1]])
  })

  test('twice the same: two requests are struck', async () => {
    const drop: FaultRule = { kind: 'drop_connection', phase: 'after_broadcast', match }
    await sandbox.faults.add(drop, drop)
    expect([await deposit(), await hits()]).toEqual(['dropped', [1, 0]])
    expect([await deposit(), await hits()]).toEqual(['dropped', [1, 1]])
    expect([await deposit(), await hits()]).toEqual(['200', [1, 1]])
  })

  test('ten requests at once: as many are struck as the rules say', async () => {
    await sandbox.faults.add({ ...AT.after_broadcast![0], times: 3 }, { ...AT.during_response![0], times: 4 })
    const ends = await Promise.all(
      Array.from({ length: 10 }, async (_, i) => {
        const jar = await acme.open(`user-${i}`)
        return acme.deposit(`user-${i}`, jar, '1000').then(outcome)
      }),
    )
    const count = (end: string) => ends.filter((one) => one === end).length
    expect(await hits()).toEqual([3, 4])
    expect([count('504 gateway_timeout'), count('500 internal_error'), count('200')]).toEqual([3, 4, 3])
  })
})

test('what a struck request has broken lasts, and other rules strike the requests that follow', async () => {
  await sandbox.faults.add(
    { kind: 'pool_paused', match },
    { kind: 'drop_connection', phase: 'after_confirmation', match },
    AT.on_request![0],
  )
  expect([await deposit(), await hits()]).toEqual(['422 transaction_reverted', [1, 0, 0]])
  // The pool is still paused: nothing is confirmed that could be dropped, and the third rule leaves the request to the second.
  expect([await deposit(), await hits()]).toEqual(['422 transaction_reverted', [1, 0, 0]])
})
