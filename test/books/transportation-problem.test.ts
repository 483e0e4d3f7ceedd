import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shippedOn, TransportationProblem } from '../../src/books/transportation-problem.ts'

const problem = fc.record({
  supplies: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
  demands: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
  costs: fc.array(fc.integer({ min: -9, max: 3 }), { minLength: 9, maxLength: 9 }),
})

function solved(supplies: readonly number[], demands: readonly number[], costOf: (i: number, j: number) => number) {
  const transport = new TransportationProblem()
  const sources = supplies.map((supply) => transport.source(supply))
  const targets = demands.map((demand) => transport.target(demand))
  const lanes = sources.flatMap((source, i) =>
    targets.map((target, j) => ({ i, j, cost: costOf(i, j), road: transport.lane(source, target, costOf(i, j)) })),
  )
  transport.solve()
  return { transport, sources, lanes }
}

/** Every way to ship something: a number of units for each lane. */
function* shipments(supplies: readonly number[], demands: readonly number[], lane = 0): Generator<number[]> {
  const [i, j] = [Math.floor(lane / demands.length), lane % demands.length]
  if (i === supplies.length) return yield []
  for (let units = Math.min(supplies[i] as number, demands[j] as number); units >= 0; units--) {
    const left = [supplies, demands].map((all, k) => all.map((one, at) => (at === (k ? j : i) ? one - units : one)))
    for (const rest of shipments(left[0] as number[], left[1] as number[], lane + 1)) yield [units, ...rest]
  }
}

test('nothing costs less than what is shipped, and every lane of an equal solution is known', () => {
  fc.assert(
    fc.property(problem, ({ supplies, demands, costs }) => {
      const { transport, sources, lanes } = solved(supplies, demands, (i, j) => costs[3 * i + j] as number)
      const costOf = (units: readonly number[]) => lanes.reduce((sum, { cost }, at) => sum + cost * (units[at] ?? 0), 0)
      const all = [...shipments(supplies, demands)]
      const least = Math.min(...all.map(costOf))
      const shipped = lanes.map(({ road }) => shippedOn(road))
      expect(costOf(shipped)).toBe(least)
      const best = all.filter((units) => costOf(units) === least)
      for (const [i, source] of sources.entries()) {
        const own = lanes.flatMap((lane, at) => (lane.i === i ? [{ ...lane, at }] : []))
        const { lanes: used, rest } = transport.everUsed(source, 1)
        const ever = own.filter(({ at }) => best.some((units) => (units[at] ?? 0) > 0))
        expect(own.filter(({ road }) => used.includes(road)).map(({ j }) => j)).toEqual(ever.map(({ j }) => j))
        const leaves = (units: readonly number[]) =>
          own.reduce((sum, { at }) => sum + (units[at] ?? 0), 0) < (supplies[i] as number)
        expect(rest).toBe(best.some(leaves))
      }
    }),
    { numRuns: 300 },
  )
})

test('costs below half a grain do not count where lanes are asked for', () => {
  const { transport, sources, lanes } = solved([1], [1, 1], (_, j) => -100 - j)
  expect(lanes.map(({ road }) => shippedOn(road))).toEqual([0, 1])
  const [source] = sources
  expect(transport.everUsed(source as NonNullable<typeof source>, 1).lanes).toHaveLength(1)
  expect(transport.everUsed(source as NonNullable<typeof source>, 10).lanes).toHaveLength(2)
})

test('a thousand sources that push another one aside take a few rounds', () => {
  const transport = new TransportationProblem()
  const targets = Array.from({ length: 2000 }, () => transport.target(1))
  // It takes any of them, and the first ones at first.
  const all = transport.source(1000)
  const wide = targets.map((target) => transport.lane(all, target, -9))
  const narrow = targets.slice(0, 1000).map((target) => transport.lane(transport.source(1), target, -8))
  expect(transport.solve()).toBeLessThan(5)
  expect(narrow.map(shippedOn)).toEqual(Array(1000).fill(1))
  expect(wide.map(shippedOn)).toEqual([...Array(1000).fill(0), ...Array(1000).fill(1)])
})
