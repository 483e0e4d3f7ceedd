import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PlannedStrike } from '../../src/explore/exploration.ts'
import { movedStrikes, shrink } from '../../src/explore/shrink/shrink.ts'

const hazard = { id: 'reset', title: 'reset', rule: { kind: 'drop_connection' } } as const
const at = (ordinal: number, place: Partial<PlannedStrike['position']> = {}): PlannedStrike => ({
  position: { operation: 'deposit', tenant: null, external_id: 'alice', end_user: 1, ordinal, ...place },
  hazard,
})

describe('strikes of which some are left out', () => {
  test('come as much earlier as there were requests that are no longer repeated', () => {
    expect(movedStrikes([at(2), at(5)], [at(1), at(4)])).toEqual([at(1), at(3)])
  })

  test('stay where others of their operation and end user come later, or are none of theirs', () => {
    expect(movedStrikes([at(1)], [at(2)])).toBeUndefined()
    const others: Partial<PlannedStrike['position']>[] = [
      { operation: 'withdraw' },
      { external_id: 'bob', end_user: 2 },
      { external_id: null },
      { tenant: 'globex' },
    ]
    for (const place of others) expect(movedStrikes([at(2, place)], [at(1)])).toBeUndefined()
  })

  test('never come to stand where another one is', () => {
    const ordinals = fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { minLength: 2 })
    const cases = ordinals.chain((all) => fc.record({ all: fc.constant(all), without: fc.subarray(all) }))
    fc.assert(
      fc.property(cases, ({ all, without }) => {
        const left = all.filter((one) => !without.includes(one)).map((one) => at(one))
        const moved =
          movedStrikes(
            left,
            without.map((one) => at(one)),
          ) ?? left
        expect(new Set(moved.map(({ position }) => position.ordinal)).size).toBe(left.length)
        for (const { position } of moved) expect(position.ordinal).toBeGreaterThan(0)
      }),
    )
  })
})

test('a schedule is shrunk to the fewest faults also where those that are left come earlier', async () => {
  const close = { ...at(3), hazard: { ...hazard, id: 'close' } }
  // The first two only make the client repeat: any reset right before the close does it.
  const fails = async (harms: readonly PlannedStrike[]) => {
    const schedule = harms.map(({ position, hazard: { id } }) => `${position.ordinal} ${id}`).join()
    return ['1 reset,2 reset,3 close', '1 reset,2 close'].includes(schedule)
  }
  const wish = { fails, maxRuns: 100 }
  expect((await shrink([at(1), at(2), close], wish)).items).toHaveLength(3)
  const shrunk = await shrink([at(1), at(2), close], { ...wish, moved: movedStrikes })
  expect(shrunk).toMatchObject({ items: [at(1), { ...close, position: at(2).position }], minimal: true })
})
