import { describe, expect, test } from 'vitest'
import { crowdExplored, HIT, placesOf } from './crowd-exploration.ts'
import { cameTo } from './exploring.ts'

// Of lasting names too, and with more runs: crowd.long.test.ts.
describe('eight deposits at once', () => {
  test('of two tenants, whose end users have the same names', async () => {
    const exploration = await crowdExplored({ TENANTS: '2' }, 1)
    expect(exploration.baseline.difference).toBeNull()
    const users = [1, 2, 3, 4].map((i) => `deposit#1@user-${i}`)
    expect(placesOf(exploration)).toEqual(users.flatMap((user) => [`${user}(acme) ${HIT}`, `${user}(globex) ${HIT}`]))
    expect(cameTo(exploration, 'survived')).toHaveLength(1)
  })

  test('of a client that pays twice, and whose end users have new names each time', async () => {
    const [found, ...more] = cameTo(await crowdExplored({ RANDOM_USERS: '1', MISTAKE: 'fresh-key' }, 1), 'paid_twice')
    expect(more).toEqual([])
    expect(found).toMatch(/; end user \d: .*twice instead of once/)
  })
})
