import fc from 'fast-check'
import { decodeTime } from 'ulid'
import { describe, expect, it } from 'vitest'
import { SandboxClock } from '../../src/domain/clock.ts'
import { Ids } from '../../src/domain/ids.ts'
import { SeededRandom } from '../../src/support/random.ts'

function frozenClock(): SandboxClock {
  const clock = new SandboxClock()
  clock.freeze()
  return clock
}

describe('ids', () => {
  it('are a prefix and a ULID of the sandbox clock', () => {
    const clock = frozenClock()
    clock.advance(8 * 24 * 3600_000)
    const ids = new Ids({ clock, random: new SeededRandom(1) })
    for (const prefix of ['jar', 'usr', 'txn', 'req'] as const) {
      const id = ids.next(prefix)
      expect(id).toMatch(new RegExp(`^${prefix}_[0-7][0-9A-HJKMNP-TV-Z]{25}$`))
      expect(decodeTime(id.slice(4))).toBe(clock.now())
    }
  })

  it('are unique and strictly increase under a frozen, advancing and running clock', () => {
    const step = fc.oneof(fc.constant('freeze'), fc.constant('unfreeze'), fc.nat({ max: 5000 }))
    fc.assert(
      fc.property(fc.integer(), fc.array(step, { maxLength: 50 }), (seed, steps) => {
        const clock = frozenClock()
        const ids = new Ids({ clock, random: new SeededRandom(seed) })
        let last = ''
        for (const step of steps) {
          if (step === 'freeze') clock.freeze()
          else if (step === 'unfreeze') clock.unfreeze()
          else clock.advance(step)
          for (let i = 0; i < 40; i++) {
            const id = ids.next('txn')
            expect(id > last).toBe(true)
            last = id
          }
        }
      }),
    )
  })

  it('go on increasing when the clock goes back', () => {
    const clock = frozenClock()
    clock.advance(1_000_000)
    const ids = new Ids({ clock, random: new SeededRandom(1) })
    const before = ids.next('req')
    clock.reset()
    expect(ids.next('req') > before).toBe(true)
  })

  it('are those of the seed, each prefix for itself, and come again after a reset', () => {
    const clock = frozenClock()
    const make = (seed: number) => {
      const random = new SeededRandom(seed)
      return { random, ids: new Ids({ clock, random }) }
    }
    const jars = (ids: Ids) => Array.from({ length: 5 }, () => ids.next('jar'))
    const one = make(1)
    const first = jars(one.ids)
    const disturbed = make(1)
    for (let i = 0; i < 10; i++) disturbed.ids.next('req')
    expect(jars(disturbed.ids)).toEqual(first)
    expect(jars(make(2).ids)).not.toEqual(first)
    expect(first[0]?.slice(4)).not.toBe(make(1).ids.next('txn').slice(4))
    one.random.reset()
    one.ids.reset()
    expect(jars(one.ids)).toEqual(first)
  })

  it('increase from one run to the next, whatever each of them draws and however the clock stands', () => {
    const clock = frozenClock()
    fc.assert(
      fc.property(fc.integer(), fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 20 }), (seed, moves) => {
        let last = ''
        moves.forEach((move, run) => {
          clock.advance(move)
          const ids = new Ids({ clock, random: new SeededRandom(seed, run) })
          for (let i = 0; i < 10; i++) {
            const id = ids.next('txn')
            expect(id > last).toBe(true)
            last = id
          }
        })
      }),
    )
  })

  it('of a copy go on from where it was taken, whatever is made meanwhile', () => {
    const clock = frozenClock()
    const random = new SeededRandom(1)
    const ids = new Ids({ clock, random })
    ids.next('req')
    const last = ids.made
    const further = Array.from({ length: 100 }, () => ids.next('req'))
    for (const _ of [1, 2]) {
      const copy = new Ids({ clock, random, last })
      expect(Array.from({ length: 100 }, () => copy.next('req'))).toEqual(further)
    }
  })
})
