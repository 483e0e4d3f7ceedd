import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Ordinals } from '../../src/traffic/who-asked.ts'

const asked = fc.record({
  operation: fc.constantFrom('deposit', 'list_pools', null),
  tenant: fc.constantFrom('acme', 'globex', null, undefined),
  external_id: fc.constantFrom('alice', 'bob', null, undefined),
})

describe('the ordinal of an exchange', () => {
  test('is its place among those of its operation, tenant and end user, in whatever order they come', () => {
    fc.assert(
      fc.property(fc.array(asked, { maxLength: 40 }), (exchanges) => {
        const ordinals = new Ordinals()
        for (const [i, one] of exchanges.entries()) {
          const alike = exchanges
            .slice(0, i + 1)
            .filter((other) => Object.entries(one).every(([key, value]) => Reflect.get(other, key) === value))
          expect(ordinals.count(one)).toBe(alike.length)
        }
      }),
    )
  })

  test('goes on in a copy from where the original stood, and neither counts what the other does', () => {
    const [alice, bob] = ['alice', 'bob'].map((external_id) => ({
      operation: 'deposit' as const,
      tenant: 'acme',
      external_id,
    }))
    const ordinals = new Ordinals()
    for (const one of [alice!, alice!, bob!]) ordinals.count(one)
    const copy = ordinals.copy()
    expect([copy.count(bob!), copy.count(bob!), copy.count(alice!)]).toEqual([2, 3, 3])
    expect([ordinals.count(bob!), ordinals.count(alice!)]).toEqual([2, 3])
  })
})
