import { expect, test } from 'vitest'
import { Quota, type QuotaLimits } from '../../src/domain/quota.ts'

const NONE: QuotaLimits = { requestsPerSecond: 0, ledgerBytes: 0, anvils: 0 }

function quotaOf(limits: Partial<QuotaLimits>) {
  let now = 1_000_000
  let bytes = 0
  const clock = { wallNow: () => now }
  const quota = new Quota({ name: 'mine', limits: { ...NONE, ...limits }, clock, ledgerBytes: () => bytes })
  const admits = () => {
    try {
      quota.admitRequest()
      return true
    } catch {
      return false
    }
  }
  return { quota, admits, pass: (ms: number) => (now += ms), grow: (to: number) => (bytes = to) }
}

test('as many requests as a second may have come at once, and the room for more comes back with time', () => {
  const { quota, admits, pass } = quotaOf({ requestsPerSecond: 3 })
  expect([admits(), admits(), admits(), admits()]).toEqual([true, true, true, false])
  expect(quota.requestsLately).toBe(3)
  pass(333)
  expect(admits()).toBe(false)
  pass(1)
  expect([admits(), admits()]).toEqual([true, false])
  pass(60_000) // no more than a second's are saved up
  expect([admits(), admits(), admits(), admits()]).toEqual([true, true, true, false])
  pass(-3_600_000) // the machine's clock is set back
  expect(admits()).toBe(false)
  pass(1_000)
  expect([admits(), admits(), admits(), admits()]).toEqual([true, true, true, false])
})

test('writes are refused from the limit on, and admitted again below it', () => {
  const { quota, grow } = quotaOf({ ledgerBytes: 100 })
  grow(99)
  expect(() => quota.admitWrite()).not.toThrow()
  grow(100)
  expect(() => quota.admitWrite()).toThrow(/"mine" has 100 bytes, and the sandbox lets it have 100/)
  grow(10)
  expect(() => quota.admitWrite()).not.toThrow()
})

test('without a limit nothing is refused', () => {
  const { quota, admits, grow } = quotaOf({})
  grow(1e12)
  expect(() => quota.admitWrite()).not.toThrow()
  expect(Array.from({ length: 1_000 }, admits)).not.toContain(false)
  expect(quota.requestsLately).toBe(0)
})
