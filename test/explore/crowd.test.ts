import { describe, expect, test } from 'vitest'
import { crowdExplored, HIT, placesOf } from './crowd-exploration.ts'
import { cameTo } from './exploring.ts'

// Of other names, of a client that pays twice, and with more runs: crowd.long.test.ts.
describe('eight deposits at once', () => {
  test('of two tenants, whose end users have the same names', async () => {
    const exploration = await crowdExplored({ TENANTS: '2' }, 1)
    expect(exploration.baseline.difference).toBeNull()
    const users = [1, 2, 3, 4].map((i) => `deposit#1@user-${i}`)
    expect(placesOf(exploration)).toEqual(users.flatMap((user) => [`${user}(acme) ${HIT}`, `${user}(globex) ${HIT}`]))
    expect(cameTo(exploration, 'survived')).toHaveLength(1)
  })
})
