import { describe, expect, test } from 'vitest'
import { expectClear } from './expect-clear.ts'
import { ExploreTwinned } from './explore-twinned.ts'

const twinned = new ExploreTwinned()

// With --resume, as often as it is told, and of a command that does its work anew: explore-twins.long.test.ts.
describe('explore --twins', () => {
  test('shows what a second process did to one without stored keys', async () => {
    const id = 'deposit#1@alice twin-while-held-on-request'
    const ended = await twinned.explore(['--trial', id, '--seed', '7'], { MISTAKE: 'key-per-start' })
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringMatching(/^twin, held on request +✗/m) })
    expect(twinned.report.results).toMatchObject([{ trial: { id }, outcome: 'paid_twice' }])
  })

  test('says in one sentence what there is instead of a twin that is unknown', async () => {
    expectClear(await twinned.explore(['--twins', '--faults', 'twin-while-underway']), {
      code: 2,
      line: /"twin-while-underway" is not known; did you mean "twin-while-under-way"/,
    })
  })
})
