import { describe, expect, test } from 'vitest'
import { expectClear } from './expect-clear.ts'
import { ExploreTwinned } from './explore-twinned.ts'

const twinned = new ExploreTwinned()

// With --resume, and as often as it is told: explore-twins.long.test.ts.
describe('explore --twins', () => {
  test('shows what a second process did to one without stored keys', async () => {
    const id = 'deposit#1@alice twin-while-held-on-request'
    const ended = await twinned.explore(['--trial', id, '--seed', '7'], { MISTAKE: 'key-per-start' })
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringMatching(/^twin, held on request +✗/m) })
    expect(twinned.report.results).toMatchObject([{ trial: { id }, outcome: 'paid_twice' }])
  })

  test('says in one sentence why a command that does its work anew has no twin', async () => {
    const ended = await twinned.explore(['--twins'], { MISTAKE: 'all-anew' })
    const line =
      /^yield-sandbox: after a run that nothing happens to, the command was started once more: it moved money 3 times more\. With --twins /m
    expect(ended).toMatchObject({ code: 4, stderr: expect.stringMatching(line) })
    expect(ended.stderr).not.toMatch(/^\s+at /m)
  })

  test('says in one sentence what there is instead of a twin that is unknown', async () => {
    expectClear(await twinned.explore(['--twins', '--faults', 'twin-while-underway']), {
      code: 2,
      line: /"twin-while-underway" is not known; did you mean "twin-while-under-way"/,
    })
  })
})
