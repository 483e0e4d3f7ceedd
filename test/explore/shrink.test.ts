import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { shrink } from '../../src/explore/shrink/shrink.ts'

const ENOUGH = 10_000

/** Fails when all of one of the groups is there, as faults do that have to come together. */
function failing(groups: readonly (readonly number[])[]) {
  const tried: string[] = []
  const holds = (items: readonly number[]) => groups.some((group) => group.every((one) => items.includes(one)))
  const fails = async (items: readonly number[]) => {
    tried.push(items.join())
    return holds(items)
  }
  return { fails, holds, tried }
}

const lists = fc.uniqueArray(fc.nat(30), { minLength: 1, maxLength: 12 })
/** A list, and groups of it. */
const cases = lists.chain((items) =>
  fc.record({
    items: fc.constant(items),
    groups: fc.array(fc.subarray(items, { minLength: 1 }), { minLength: 1, maxLength: 3 }),
  }),
)

describe('shrinking', () => {
  test('comes to a part that fails, in its order, of which nothing can be left out; and tries nothing twice', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ items, groups }) => {
        const { fails, holds, tried } = failing(groups)
        const { items: left, runs, minimal } = await shrink(items, { fails, maxRuns: ENOUGH })
        expect(holds(left)).toBe(true)
        expect(minimal).toBe(true)
        expect(left).toEqual(items.filter((item) => left.includes(item)))
        for (const item of left.length > 1 ? left : []) {
          expect(holds(left.filter((other) => other !== item))).toBe(false)
        }
        expect(new Set(tried).size).toBe(tried.length)
        expect(runs).toBe(tried.length)
        expect(tried).not.toContain('')
      }),
    )
  })

  test('holds for anything that fails, even where more faults may fail less', async () => {
    const random = fc.record({ items: lists, salt: fc.nat() })
    await fc.assert(
      fc.asyncProperty(random, async ({ items, salt }) => {
        const whole = items.join()
        const fails = async (part: readonly number[]) =>
          part.join() === whole || part.reduce((sum, one) => (sum * 31 + one) % 1009, salt) % 3 === 0
        const { items: left, minimal } = await shrink(items, { fails, maxRuns: ENOUGH })
        expect(minimal).toBe(true)
        expect(await fails(left)).toBe(true)
        for (const item of left.length > 1 ? left : []) {
          expect(await fails(left.filter((other) => other !== item))).toBe(false)
        }
      }),
    )
  })

  test('stops when its runs are used up, with something that fails', async () => {
    await fc.assert(
      fc.asyncProperty(cases, fc.nat(6), async ({ items, groups }, maxRuns) => {
        const { fails, holds, tried } = failing(groups)
        const { items: left, runs } = await shrink(items, { fails, maxRuns })
        expect(holds(left)).toBe(true)
        expect(runs).toBe(tried.length)
        expect(runs).toBeLessThanOrEqual(maxRuns)
      }),
    )
  })

  test('tries halves first: one of sixteen takes few runs', async () => {
    const items = Array.from({ length: 16 }, (_, i) => i)
    const { runs, items: left } = await shrink(items, { fails: failing([[9]]).fails, maxRuns: ENOUGH })
    expect(left).toEqual([9])
    expect(runs).toBeLessThanOrEqual(8)
  })

  test('says when it does not know whether it is done', async () => {
    const { items, minimal } = await shrink([1, 2, 3, 4], { fails: failing([[2, 3]]).fails, maxRuns: 1 })
    expect({ items, minimal }).toEqual({ items: [1, 2, 3, 4], minimal: false })
  })
})
