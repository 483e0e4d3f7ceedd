import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FaultRule } from '../../src/index.ts'
import { TwoWays } from './two-ways.ts'

const PHASES = ['on_request', 'before_broadcast', 'after_broadcast', 'after_confirmation', 'during_response'] as const

let ways: TwoWays
beforeAll(async () => {
  ways = await TwoWays.start()
})
afterAll(() => ways.stop())

describe('a fault through another process is the same', () => {
  const drops: FaultRule['with'][] = [
    { how: 'reset' },
    { how: 'close' },
    { how: 'truncate', bytes: 16 },
    { how: 'truncate', bytes: 0 },
  ]
  const rules = PHASES.flatMap((phase) => drops.map((how): FaultRule => ({ kind: 'drop_connection', phase, with: how })))

  test.each(rules)('%j', async (rule) => {
    const { received, record } = await ways.compare(
      async ({ open, deposit }) => {
        const client = open()
        await client.write(deposit())
        await client.ended()
      },
      { ...rule, match: { operation: 'deposit' } },
    )
    const isReset = rule.with?.how === 'reset'
    expect(received).toEqual([{ text: expect.any(String), end: isReset ? 'RST' : 'FIN' }])
    expect(record).toHaveLength(1)
  })
})
