import { describe, expect, test } from 'vitest'
import { expectClear } from './expect-clear.ts'
import { ExploreAssumed } from './explore-assumed.ts'

const assumed = new ExploreAssumed()

// With --resume, and with faults: explore-assumptions.long.test.ts.
describe('explore --assumptions', () => {
  test('has each run again with the name that is shown', async () => {
    const { code, stderr } = await assumed.explore('--trial', 'assumption transfer_status=201')
    expect([code, assumed.outcomes]).toEqual([0, ['survived']])
    expect(stderr).toMatch(/^Passed: ends as well as before under 1 of 1 other setting of the service\.$/m)
    expect(assumed.client.runs).toHaveLength(3)
  })

  test.each([
    [
      ['--trial', 'assumption transfer_state=201'],
      /"transfer_state" is no setting .* did you mean "transfer_status"\?/,
    ],
    [
      ['--trial', 'assumption transfer_status=201', '--assumptions'],
      /'--trial <id>' cannot be used with option '--assumptions'/,
    ],
  ])('%j is refused in one sentence', async (flags, line) => {
    expectClear(await assumed.explore(...flags), { code: 2, line })
  })
})
