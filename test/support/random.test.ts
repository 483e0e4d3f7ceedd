import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SeededRandom } from '../../src/support/random.ts'

const draws = (random: SeededRandom, stream: string, count = 20) =>
  Array.from({ length: count }, () => random.next(stream))

/** Chi-squared of values in [0, 1) over equal bins; with 15 degrees of freedom, over 45 has odds of 1 in 10,000. */
function chiSquared(values: number[], bins = 16): number {
  const counts = new Array<number>(bins).fill(0)
  for (const value of values) counts[Math.floor(value * bins)]! += 1
  const expected = values.length / bins
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
}

describe('seeded random', () => {
  it('draws the same from the same seed and stream, and in [0, 1)', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.string(), (seed, stream) => {
        const values = draws(new SeededRandom(seed), stream)
        expect(draws(new SeededRandom(seed), stream)).toEqual(values)
        expect(values.every((value) => value >= 0 && value < 1)).toBe(true)
      }),
    )
  })

  it('draws what it always drew: what a data directory holds was made by an earlier version', () => {
    expect(new SeededRandom(7).uuid('id')).toBe('403891a2-68bb-492a-a7e9-e2b4111a85d3')
    expect(new SeededRandom(7, 1).uuid('id')).toBe('1d465175-0456-40c6-9d61-6dd9e3df6f20')
  })

  it('draws from a stream undisturbed by the others', () => {
    fc.assert(
      fc.property(fc.integer(), fc.array(fc.constantFrom('a', 'b', 'c')), (seed, order) => {
        const random = new SeededRandom(seed)
        const mixed = order.map((stream) => ({ stream, value: random.next(stream) }))
        for (const stream of ['a', 'b', 'c']) {
          const own = mixed.filter((draw) => draw.stream === stream).map(({ value }) => value)
          expect(own).toEqual(draws(new SeededRandom(seed), stream, own.length))
        }
      }),
    )
  })

  it('starts every stream anew on reset', () => {
    const random = new SeededRandom(7)
    const first = [...draws(random, 'a'), random.uuid('b')]
    random.reset()
    expect([...draws(random, 'a'), random.uuid('b')]).toEqual(first)
  })

  it('spreads evenly within a stream', () => {
    for (const seed of [0, 1, 42, -1]) expect(chiSquared(draws(new SeededRandom(seed), 'delay', 8000))).toBeLessThan(45)
  })

  it.each([0, 1, 2, 3])('spreads draw %i evenly over neighbouring seeds and over streams', (nth) => {
    const range = Array.from({ length: 4000 }, (_, i) => i)
    expect(chiSquared(range.map((seed) => draws(new SeededRandom(seed), 'delay', nth + 1)[nth]!))).toBeLessThan(45)
    expect(chiSquared(range.map((i) => draws(new SeededRandom(1), `stream-${i}`, nth + 1)[nth]!))).toBeLessThan(45)
  })

  it('draws otherwise in every run, and in the first as if there were no other', () => {
    const first = [0, 1, 2, 3].map((run) => JSON.stringify(draws(new SeededRandom(7, run), 'delay')))
    expect(new Set(first).size).toBe(4)
    expect(first[0]).toBe(JSON.stringify(draws(new SeededRandom(7), 'delay')))
    const range = Array.from({ length: 4000 }, (_, run) => run)
    expect(chiSquared(range.map((run) => new SeededRandom(1, run).next('delay')))).toBeLessThan(45)
  })

  it('tells seeds apart that differ beyond 32 bits', () => {
    expect(draws(new SeededRandom(2 ** 32), 'a')).not.toEqual(draws(new SeededRandom(0), 'a'))
  })

  it('gives bytes of the whole range and version 4 UUIDs', () => {
    const random = new SeededRandom(3)
    const bytes = random.bytes('bytes', 8000)
    expect(bytes).toHaveLength(8000)
    expect(new Set(bytes).size).toBe(256)
    const uuids = Array.from({ length: 1000 }, () => random.uuid('uuid'))
    for (const uuid of uuids)
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(new Set(uuids).size).toBe(1000)
  })
})
