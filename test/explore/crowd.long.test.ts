import { describe, expect, test } from 'vitest'
import { crowdExplored, HIT, placesOf } from './crowd-exploration.ts'
import { cameTo } from './exploring.ts'

const explored = (env: NodeJS.ProcessEnv) => crowdExplored(env, 3)

describe('eight deposits at once', () => {
  test('of end users with lasting names are the same places each time, and a client that is right survives', async () => {
    const exploration = await explored({})
    expect(exploration.baseline.difference).toBeNull()
    expect(placesOf(exploration)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((i) => `deposit#1@user-${i} ${HIT}`))
    expect(cameTo(exploration, 'survived')).toHaveLength(3)
  })

  test('of end users whose names are new each time', async () => {
    const exploration = await explored({ RANDOM_USERS: '1' })
    expect(exploration.baseline.difference).toBeNull()
    expect(placesOf(exploration)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((i) => `deposit#1@${i} ${HIT}`))
    expect(cameTo(exploration, 'survived')).toHaveLength(3)
  })

  test('of two tenants, whose end users have the same names', async () => {
    const exploration = await explored({ TENANTS: '2' })
    expect(exploration.baseline.difference).toBeNull()
    const users = [1, 2, 3, 4].map((i) => `deposit#1@user-${i}`)
    const wanted = users.flatMap((user) => [`${user}(acme) ${HIT}`, `${user}(globex) ${HIT}`])
    expect(placesOf(exploration)).toEqual(wanted)
    expect(cameTo(exploration, 'survived')).toHaveLength(3)
  })

  test.each([
    ['lasting names', {}, /^deposit#1@user-(\d) .*; user-\1: .* \(deposit of \1\.00: twice instead of once\)/],
    ['new names', { RANDOM_USERS: '1' }, /; end user \d: .*twice instead of once/],
    ['two tenants', { TENANTS: '2' }, /^deposit#1@user-(\d)\((acme|globex)\).*; user-\1 \(\2\): /],
  ])('of a client that pays twice: %s', async (_, env, sentence) => {
    const found = cameTo(await explored({ ...env, MISTAKE: 'fresh-key' }), 'paid_twice')
    expect(found).toHaveLength(3)
    for (const one of found) expect(one.replace('paid_twice; ', '')).toMatch(sentence)
  })
})
