import { expect, test } from 'vitest'
import { ExploreAssumed } from './explore-assumed.ts'

const assumed = new ExploreAssumed()

test('explore --assumptions shows what it tried, and goes on from there with --resume', async () => {
  const first = await assumed.explore('--assumptions', '--max-runs', '1', '--jobs', '1')
  expect(first.code).toBe(4)
  expect(first.stderr).toMatch(/^yield-sandbox: runs the command under 17 other settings of the service$/m)
  expect(first.stderr).not.toMatch(/where something can go wrong|not among the faults/)
  expect(first.stderr).toMatch(/^Other settings of the service, one at a time:$/m)
  expect(first.stderr).toMatch(/^· not tried: base_path=\/api, error_docs=/m)
  expect(assumed.client.runs).toHaveLength(3)
  const [tried, ...others] = assumed.outcomes
  expect([tried, ...new Set(others)]).toEqual(['not_met', 'untried'])
  const second = await assumed.explore('--assumptions', '--max-runs', '1', '--jobs', '1', '--resume')
  expect(second.stderr).toMatch(/^✓ survived: base_path=\/api$/m)
  expect(assumed.client.runs).toHaveLength(6)
  expect(assumed.outcomes.filter((one) => one !== 'untried')).toEqual(['not_met', 'survived'])
  expect(assumed.reported).toMatchObject({
    verdict: 'inconclusive',
    assumption_outcomes: { survived: { name: 'survived' } },
  })
})

test('explore --assumptions leaves faults out unless they are asked for, and says both in the first sentence', async () => {
  const flags = ['--assumptions', '--faults', 'reset-on-request', '--only', 'deposit', '--max-runs', '2']
  const { code, stderr } = await assumed.explore(...flags, '--jobs', '1')
  expect(code).toBe(4)
  expect(stderr).toMatch(/^reset on request +✓$/m)
  expect(assumed.reported.results).toHaveLength(1)
  expect(assumed.reported.summary).toBe(
    'Inconclusive: shows nothing of 17 other settings of the service; 1 of them was never met; 16 runs failed or did not take place; and of the faults: 1 fault struck, and no money went astray.',
  )
})

test('explore --trial is under settings beside those of the fixture file', async () => {
  const fixtures = ['--fixtures', 'fixtures/live-like.yaml']
  const flags = [...fixtures, '--trial', 'assumption transfer_status=200']
  expect((await assumed.explore(...flags)).stderr).toMatch(/the fixture has that already; use 201/)
})
