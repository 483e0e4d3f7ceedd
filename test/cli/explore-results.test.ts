import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Ended } from './command.ts'
import { expectClear } from './expect-clear.ts'
import { Explored, TWO } from './explored.ts'
import { runHere } from './in-process.ts'
import { sandboxOfFolder } from './sandbox-of-folder.ts'

const within = sandboxOfFolder()
// All begin with copies of one namespace, which is not that of the sandbox around them.
const BEGIN = { YIELD_SANDBOX_SEED: '4711', YIELD_SANDBOX_CLOCK: '2026-12-24T18:00:00Z' }

const explored = new Explored()
const start = explored.start.bind(explored)

const explore = (...[flags, env, command = explored.client.command]: Parameters<typeof start>): Promise<Ended> =>
  runHere(['explore', '--results', explored.client.path('results.jsonl'), ...flags, '--', ...command], {
    ...within(),
    ...BEGIN,
    ...explored.client.env,
    ...env,
  })

// A SIGKILL, a Ctrl-C, and another command line's results: explore-results.long.test.ts.
describe('explore', () => {
  test('shows where money went astray, writes it down in every form, and exits with 3', async () => {
    const files = ['html', 'json', 'xml', 'md', 'txt'].map((suffix) =>
      explored.client.path(`reports/explore.${suffix}`),
    )
    const ended = await explore([...TWO, ...files.flatMap((file) => ['--report', file])], { TWICE: '1' })
    expect(ended).toMatchObject({ code: 3, stdout: 'deposited 200\n' })
    expect(ended.stderr).toMatch(/^yield-sandbox: ✗ deposit#1@alice reset-after-broadcast: .*twice instead of once\)$/m)
    expect(ended.stderr).toMatch(/^yield-sandbox: 2 of 2 runs, \d bad; /m)
    expect(ended.stderr).toMatch(/^reset after broadcast +✗$/m)
    expect(ended.stderr).toMatch(/^Failed: money went astray in \d of 2 runs/m)
    expect(ended.stderr).not.toContain('\u001b')
    expect(files.filter((file) => !existsSync(file))).toEqual([])
    const { results } = JSON.parse(readFileSync(files[1]!, 'utf8'))
    expect(explored.client.results).toHaveLength(2)
    expect(results).toEqual(expect.arrayContaining(explored.client.results))
  })

  test('exits with 0 when none did; environment variables stand for flags as with exec', async () => {
    const ended = await explore(TWO)
    expect(ended.stderr).toMatch(/^Passed: 2 faults struck, and no money went astray\.$/m)
    expect(ended.code).toBe(0)
    const [header = ''] = readFileSync(explored.client.path('results.jsonl'), 'utf8').split('\n')
    expect(JSON.parse(header)).toMatchObject({ seed: 4711, clock: '2026-12-24T18:00:00Z' })
  })
})

test('explore --json prints its result alone, the same as in a report; what the command prints goes to stderr', async () => {
  const report = explored.client.path('explore.json')
  const flags = ['--only', 'deposit', '--faults', 'reset-after-broadcast', '--json', '--report', report]
  const { code, stdout, stderr } = await explore(flags, { TWICE: '1' })
  expect(code).toBe(3)
  expect(JSON.parse(stdout)).toMatchObject({
    verdict: 'failed',
    results: [{ trial: { harms: [{ position: { operation: 'deposit' } }] } }],
  })
  expect(JSON.parse(stdout)).toEqual(JSON.parse(readFileSync(report, 'utf8')))
  expect(stderr).toMatch(/^deposited 200$/m)
})

describe('the command line', () => {
  test.each([
    [['--faults', 'droped_connection'], /"droped_connection" is not known; did you mean "drop_connection"\?/],
    [['--only', 'deposit,withdrawl'], /"withdrawl" is not known; did you mean "withdraw"\?/],
    [['--only', 'payments'], /"payments" is not known; use one of list_pools, /],
    [['--depth', '3'], /--depth.* must be 1 or 2/],
    [['--budget', '0'], /--budget.* must be longer than 0/],
    [['--timeout', 'soon'], /--timeout/],
    [['--max-runs', '0'], /--max-runs.* must be at least 1/],
    [['--jobs', 'x'], /--jobs.* must be a whole number/],
    [
      ['--report', 'x.sarif'],
      /"x\.sarif": SARIF is about places in code.*use \.html, \.json, \.xml \(JUnit\), \.md or \.txt/,
    ],
    [['--report', 'x.doc'], /has a suffix that stands for no form of report/],
    [['--env', 'API_URL'], /must be THEIR_NAME=YIELD_NAME/],
    [['--resume', '--results', '/nowhere/x'], /--resume: \/nowhere\/x cannot be read \(ENOENT\)/],
  ])('refuses %j by its name', async (flags, line) => {
    expectClear(await runHere(['explore', ...flags, '--', 'true']), { code: 2, line })
  })

  test('says what belongs after --, and has examples', async () => {
    expect((await runHere(['explore', '--grep', 'x'])).stderr).toMatch(/what belongs to your command goes after --/)
    expect((await runHere(['explore', '--help'])).stdout).toMatch(/Examples:\n {2}yield-sandbox explore -- npm test/)
  })
})
