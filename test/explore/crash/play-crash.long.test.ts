import { describe, expect, test } from 'vitest'
import { deposits, killed, moved, openFolders, Running, UNDER_WAY } from './killed-command.ts'

openFolders()

describe('a killed command', () => {
  test('after the answer: the first start has ended its request', async () => {
    const seen = await killed({ phase: 'during_response', afterAnswer: 0 }, { again: 'ends' })
    expect(deposits(seen)).toMatchObject([{ end: 'answered' }])
    expect(moved(seen)).toBe(1)
  })
})

// The clock stands but for the last one: nothing but what the test names can let the transfer go.
describe('a transfer that is under way is let go when the restarted command', () => {
  test('has looked, and has not seen it', async () => {
    const seen = await killed(UNDER_WAY, { again: 'looks' })
    const list = seen.evidence.exchanges.find(({ operation }) => operation === 'list_transactions')
    expect(list?.end).toBe('answered')
    expect(list?.response?.body).not.toContain('"1000000"')
    expect([moved(seen), seen.end.code, seen.end.timedOut]).toEqual([1, 0, false])
  })

  test('has ended', async () => {
    const seen = await killed(UNDER_WAY, { again: 'ends' })
    expect(deposits(seen)).toMatchObject([{ end: 'abandoned' }])
    expect([moved(seen), seen.end.code]).toEqual([1, 0])
  })

  test('has asked something else three seconds ago', async () => {
    const seen = await killed(UNDER_WAY, { again: 'asks-otherwise', clock: new Running() })
    expect([moved(seen), seen.end.code, seen.end.timedOut]).toEqual([1, 0, false])
  })
})
