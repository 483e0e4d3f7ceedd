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
