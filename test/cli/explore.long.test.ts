import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { expectGone } from './expect-gone.ts'
import { ExploreFolder, SUITE } from './explore-folder.ts'
import { paste } from './paste.ts'

let folder: ExploreFolder
beforeEach(async () => {
  folder = await ExploreFolder.make()
})
afterEach(() => folder[Symbol.asyncDispose]())

const explore = (...terms: Parameters<ExploreFolder['explore']>) => folder.explore(...terms)

const NODE = process.execPath
const MONEY = ['--only', 'deposit', '--faults', 'drop_connection,error,revert']

describe('explore', () => {
  // Every place of every operation is many minutes of `npm run test:explore`.
  test('finds nothing against a client that is right', {
    timeout: 600_000,
  }, async () => {
    const kinds = 'drop_connection,error,token_endpoint_error,revert,malformed_body,unknown_fields,token_expired'
    const { code, exploration, outcomes } = await explore(['--faults', kinds, '--only', 'withdraw,token'])
    // A revert is refused, and said so: a client that takes that for done looks the same.
    expect([...outcomes].sort()).toEqual(['refused', 'survived'])
    expect([code, exploration?.verdict]).toEqual([0, 'passed'])
    expect(exploration?.baseline).toMatchObject({ exchanges: 9, positions: 9, difference: null })
  })

  test('finds a double payment that the tests do not notice, says whose, and why', async () => {
    const { code, stderr, outcomes, exploration } = await explore(
      ['--only', 'deposit', '--faults', 'reset-after-broadcast'],
      SUITE,
      { MISTAKE: 'fresh-key', CHECKS: 'none' },
    )
    expect([code, exploration?.verdict, ...outcomes]).toEqual([3, 'failed', 'paid_twice'])
    expect(stderr).toContain(
      'carol: 2,249.50 USDC in aave-usdc instead of 1,249.50 (deposit of 1,000.00: twice instead of once)',
    )
    expect(stderr).toContain('idempotency-key-on-retry')
  })

  test.each([
    ['paid_twice', { MISTAKE: 'fresh-key' }, 3],
    ['gave_up', { MISTAKE: 'no-retry' }, 0],
  ] as const)('calls it %s with %o', async (outcome, env, code) => {
    const hit = outcome === 'gave_up' ? 'unavailable,reset-on-request' : 'reset-after-broadcast'
    const seen = await explore(['--only', 'deposit', '--faults', hit], SUITE, env)
    expect([seen.code, ...seen.outcomes]).toEqual([code, outcome])
  })

  test('prints how to see a double payment again', async () => {
    const env = { MISTAKE: 'fresh-key', CHECKS: 'none' }
    const { stderr } = await explore(['--only', 'deposit', '--faults', 'reset-after-broadcast'], SUITE, env)
    const repeat = /yield-sandbox (explore .*)/.exec(stderr)?.[1] ?? ''
    const again = await paste(`yield-sandbox ${repeat}`, env)
    expect(again).toMatchObject({ code: 3, stderr: expect.stringMatching(/of 1,000.00: twice instead of once/) })
  })

  test('calls a revert that the client keeps to itself refused: no loss, and no proof of anything', async () => {
    const { code, outcomes, sentences } = await explore(['--faults', 'revert', '--only', 'deposit'], SUITE, {
      MISTAKE: 'swallow-revert',
      CHECKS: 'none',
    })
    expect([code, ...outcomes]).toEqual([0, 'refused'])
    expect(sentences[0]).toMatch(/was refused \(422 transaction_reverted\), your client was told, and nothing moved/)
  })

  test('calls a client hung that waits for ever', async () => {
    const { code, outcomes } = await explore(
      ['--faults', 'hang-on-request', '--only', 'list_pools', '--timeout', '4s'],
      SUITE,
      { MISTAKE: 'no-timeout' },
    )
    expect([code, ...outcomes]).toEqual([3, 'hung'])
  })

  test('follows deposits that go side by side, and end users whose names are new each time', async () => {
    const { code, exploration, outcomes } = await explore(
      ['--only', 'deposit', '--faults', 'revert,reset-after-broadcast'],
      SUITE,
      { CONCURRENT: '1', RANDOM_USER: '1' },
    )
    expect([code, ...outcomes]).toEqual([0, 'survived', 'refused'])
    expect(exploration?.results[0]?.trial.harms[0]?.position).toMatchObject({ external_id: null, end_user: 1 })
  })

  test('with a database of its own, a suite is repeatable by what --before does', async () => {
    const database = join(folder.path, 'database')
    const wish = ['--only', 'deposit', '--faults', 'reset-after-broadcast', '--jobs', '1']
    const without = await explore(wish, SUITE, { DATABASE: database })
    expect(without).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/your tests are not repeatable: .*0\.000007/),
    })
    const cleaned = await explore([...wish, '--before', `rm -f ${database}`], SUITE, { DATABASE: database })
    expect([cleaned.code, ...cleaned.outcomes]).toEqual([0, 'survived'])
  })

  test('stops after --max-runs and --budget, and says what was not tried', async () => {
    const few = await explore([...MONEY, '--max-runs', '1', '--jobs', '1'])
    expect(few.exploration).toMatchObject({ results: [{}], untried: { reason: '--max-runs 1' } })
    expect(few.code).toBe(4)
    expect(few.stderr).toMatch(/Not tried: (\d+) more, \1 of them at transfers \(--max-runs 1\)/)
    const allowed = await explore([...MONEY, '--max-runs', '1', '--jobs', '1', '--allow-inconclusive'])
    expect([allowed.code, allowed.stderr]).toEqual([0, expect.any(String)])
    const short = await explore([...MONEY, '--budget', '1ms'])
    expect(short.code).toBe(4)
    expect(short.stderr).toMatch(/Not tried: (\d+) more, \1 of them at transfers \(--budget/)
  })
})

describe('explore says in one sentence why it cannot', () => {
  test('tests that are not repeatable; --tolerate goes on', async () => {
    const chance = `${NODE} ${SUITE[1]} && [ -e ${folder.path}/ran ] || { touch ${folder.path}/ran; MISTAKE=no-retry USER_NAME=dave ${NODE} ${SUITE[1]}; }`
    const command = ['sh', '-c', chance]
    const refused = await explore(['--only', 'deposit', '--faults', 'revert'], command)
    expect(refused).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/not repeatable: two runs without any fault differ/),
    })
    await rm(`${folder.path}/ran`)
    const tolerated = await explore(['--only', 'deposit', '--faults', 'revert', '--tolerate'], command)
    expect(tolerated.exploration?.baseline.difference).not.toBeNull()
    expect([tolerated.code, tolerated.stderr]).toEqual([0, expect.any(String)])
  })
})

test('what a command leaves running in its group is ended', async () => {
  const pids = join(folder.path, 'pids')
  const script = `sleep 300 & echo $! >> ${pids}; exec ${SUITE.join(' ')}`
  const { code } = await explore(
    ['--only', 'deposit', '--faults', 'revert', '--max-runs', '1', '--allow-inconclusive'],
    ['sh', '-c', script],
  )
  expect(code).toBe(0)
  const started = (await readFile(pids, 'utf8')).trim().split('\n').map(Number)
  expect(started).toHaveLength(3)
  for (const pid of started) expectGone(pid)
})

test('a daemon that a command starts each time is named', async () => {
  const script = `sleep 301 & exec ${SUITE.join(' ')}`
  const { code, stderr } = await explore(
    ['--only', 'deposit', '--faults', 'revert', '--max-runs', '1', '--allow-inconclusive'],
    ['sh', '-c', script],
  )
  expect(stderr).toMatch(/^sh left a process running: ended \(sleep\)\. That takes time after every run/m)
  expect(code).toBe(0)
})

// What it prints has to go elsewhere: who reads what explore prints would wait for it.
test('a daemon that leaves the group of the command holds up nothing', async () => {
  const pid = join(folder.path, 'pid')
  const script = `setsid sh -c 'echo $$ >> ${pid}; exec sleep 300' > /dev/null 2>&1 & exec ${SUITE.join(' ')}`
  const { code, stderr } = await explore(
    ['--only', 'deposit', '--faults', 'revert', '--max-runs', '1', '--allow-inconclusive'],
    ['sh', '-c', script],
  )
  const started = (await readFile(pid, 'utf8')).trim().split('\n').map(Number)
  for (const one of started) process.kill(one)
  expect([code, started.length]).toEqual([0, 3])
  expect(stderr).not.toContain('left a process running')
})
