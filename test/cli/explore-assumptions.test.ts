import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { expectClear } from './expect-clear.ts'
import { ExploredClient } from './explore-clients.ts'
import { runHere } from './in-process.ts'

let client: ExploredClient
beforeEach(() => {
  client = new ExploredClient()
})
afterEach(() => client[Symbol.dispose]())

/** Explores the client, and keeps results in its folder. */
function explore(...flags: readonly string[]) {
  const own = ['--results', client.path('results.jsonl'), '--report', client.path('report.json'), '--seed', '7']
  return runHere(['explore', ...own, ...flags, '--', ...client.command], client.env)
}

const reported = () => JSON.parse(readFileSync(client.path('report.json'), 'utf8'))
const outcomes = () => reported().assumptions.map((one: { outcome: string }) => one.outcome)

describe('explore --assumptions', () => {
  test('shows what it tried, and goes on from there with --resume', async () => {
    const first = await explore('--assumptions', '--max-runs', '1', '--jobs', '1')
    expect(first.code).toBe(4)
    expect(first.stderr).toMatch(/^yield-sandbox: runs the command under 17 other settings of the service$/m)
    expect(first.stderr).not.toMatch(/where something can go wrong|not among the faults/)
    expect(first.stderr).toMatch(/^Other settings of the service, one at a time:$/m)
    expect(first.stderr).toMatch(/^· not tried: base_path=\/api, error_docs=/m)
    expect(client.runs).toHaveLength(3)
    const [tried, ...others] = outcomes()
    expect([tried, ...new Set(others)]).toEqual(['not_met', 'untried'])
    const second = await explore('--assumptions', '--max-runs', '1', '--jobs', '1', '--resume')
    expect(second.stderr).toMatch(/^✓ survived: base_path=\/api$/m)
    expect(client.runs).toHaveLength(6)
    expect(outcomes().filter((one: string) => one !== 'untried')).toEqual(['not_met', 'survived'])
    expect(reported()).toMatchObject({
      verdict: 'inconclusive',
      assumption_outcomes: { survived: { name: 'survived' } },
    })
  })

  test('leaves faults out unless they are asked for, and says both in the first sentence', async () => {
    const flags = ['--assumptions', '--faults', 'reset-on-request', '--only', 'deposit', '--max-runs', '2']
    const { code, stderr } = await explore(...flags, '--jobs', '1')
    expect(code).toBe(4)
    expect(stderr).toMatch(/^reset on request +✓$/m)
    expect(reported().results).toHaveLength(1)
    expect(reported().summary).toBe(
      'Inconclusive: shows nothing of 17 other settings of the service; 1 of them was never met; 16 runs failed or did not take place; and of the faults: 1 fault struck, and no money went astray.',
    )
  })

  test('has each run again with the name that is shown', async () => {
    const { code, stderr } = await explore('--trial', 'assumption transfer_status=201')
    expect([code, outcomes()]).toEqual([0, ['survived']])
    expect(stderr).toMatch(/^Passed: ends as well as before under 1 of 1 other setting of the service\.$/m)
    expect(client.runs).toHaveLength(3)
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
    expectClear(await explore(...flags), { code: 2, line })
  })

  test('is under settings beside those of the fixture file', async () => {
    const fixtures = ['--fixtures', 'fixtures/live-like.yaml']
    const flags = [...fixtures, '--trial', 'assumption transfer_status=200']
    expect((await explore(...flags)).stderr).toMatch(/the fixture has that already; use 201/)
  })
})
