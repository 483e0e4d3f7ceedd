import { describe, expect, test } from 'vitest'
import { expectClear } from './expect-clear.ts'
import { ExploreAssumed } from './explore-assumed.ts'

const assumed = new ExploreAssumed()

// With --resume: explore-assumptions.long.test.ts.
describe('explore --assumptions', () => {
  test('leaves faults out unless they are asked for, and says both in the first sentence', async () => {
    const flags = ['--assumptions', '--faults', 'reset-on-request', '--only', 'deposit', '--max-runs', '2']
    const { code, stderr } = await assumed.explore(...flags, '--jobs', '1')
    expect(code).toBe(4)
    expect(stderr).toMatch(/^reset on request +✓$/m)
    expect(assumed.reported.results).toHaveLength(1)
    expect(assumed.reported.summary).toBe(
      'Inconclusive: shows nothing of 17 other settings of the service; 1 of them was never met; 16 runs failed or did not take place; and of the faults: 1 fault struck, and no money went astray.',
    )
  })

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

  test('is under settings beside those of the fixture file', async () => {
    const fixtures = ['--fixtures', 'fixtures/live-like.yaml']
    const flags = [...fixtures, '--trial', 'assumption transfer_status=200']
    expect((await assumed.explore(...flags)).stderr).toMatch(/the fixture has that already; use 201/)
  })
})
