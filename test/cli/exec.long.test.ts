import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { shippedScenarios } from '../../src/scenarios/find-scenario.ts'
import { anvilsOf } from '../helpers/anvils.ts'
import { eventually } from '../helpers/eventually.ts'
import { type Ended, ROOT } from './command.ts'
import { execClients } from './exec-clients.ts'
import { execGroups } from './exec-groups.ts'
import { expectOneReport, SCENARIOS } from './exec-scenarios.ts'
import { expectClear } from './expect-clear.ts'
import { expectGone } from './expect-gone.ts'
import { runHere } from './in-process.ts'

const { directory, client } = execClients()
const { start, pidOf, reachesTheGroup } = execGroups(client)

const exec = (flags: readonly string[], command: readonly string[]): Promise<Ended> =>
  runHere(['exec', ...flags, '--', ...command])

test.each(['1', '3'] as const)('several scenarios, %s at a time, give one table, one report and one code', (jobs) =>
  expectOneReport(jobs, directory, client('pools')),
)

test('the command that a broken rule prints does it again, as it stands', async () => {
  const asked = ['--scenario', 'dropped-deposit', '--clock', '2026-01-01T00:00:00Z', '--env', 'API_URL=YIELD_BASE_URL']
  const { stderr } = await runHere(['exec', ...asked, '--', ...client('wrong')])
  const [, again = ''] = /^ {2}again +yield-sandbox (exec .*)$/m.exec(stderr) ?? []
  expect(again).toContain('--clock 2026-01-01T00:00:00Z')
  expect(again).toContain('--env API_URL=YIELD_BASE_URL')
  const pasted = spawnSync('sh', ['-c', `node bin/yield-sandbox.js ${again}`], { encoding: 'utf8', cwd: ROOT })
  expect(pasted).toMatchObject({ status: 3, stdout: 'deposited 200\n' })
})

test.each([
  [['cd', '/'], /"cd" is a word of the shell: give sh -c/],
  [['npm test'], /"npm test" is not a command: leave out the quotes/],
  [['A=1', 'npm'], /"A=1" is not a command: set variables with env, as in: -- env A=1 npm test/],
  [['./README.md'], /"\.\/README\.md" cannot be run: .* \(chmod \+x/],
  [['/tmp'], /"\/tmp" cannot be run/],
  [['./nowhere/test.sh'], /"\.\/nowhere\/test\.sh" does not exist: check the path/],
])('%j that cannot be started is refused in one line', async (command, line) => {
  const before = anvilsOf(process.pid)
  expectClear(await runHere(['exec', '--', ...command]), { code: 2, line })
  expect(anvilsOf(process.pid).filter((pid) => !before.includes(pid))).toEqual([])
})

test('a command whose interpreter is missing is refused in one line as well', async () => {
  const script = join(directory, 'script')
  await writeFile(script, '#!/no/such/interpreter\n', { mode: 0o755 })
  expectClear(await exec([], [script]), {
    code: 2,
    line: /the program that its first line \(#!\) names does not exist/,
  })
})

test('--scenario all runs every shipped one, and gives one table and one code', async () => {
  const names = (await shippedScenarios()).map(({ name }) => name)
  const { code, stderr } = await runHere(['exec', '--scenario', 'all', '--', 'true'])
  expect(stderr.match(/^scenario +verdict +command's code/gm)).toHaveLength(1)
  for (const name of names) expect(stderr).toMatch(new RegExp(`^${name} +inconclusive +0 `, 'm'))
  expect(code).toBe(4)
  const failing = await runHere(['exec', '--scenario', 'all', '--', 'sh', '-c', 'exit 7'])
  expect(failing.code).toBe(7)
  for (const name of names) expect(failing.stderr).toMatch(new RegExp(`^${name} +\\w+ +7 `, 'm'))
})

describe('nothing is left running', () => {
  test('when a command takes too long', async () => {
    const exec = start(['--timeout', '2s'], client('family'))
    const pids = [await pidOf(exec, 'parent'), await pidOf(exec, 'child')]
    const { code, stdout, stderr } = await exec.ended
    expect({ code, stdout, stderr }).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/parent SIGTERM/),
      stderr: expect.stringMatching(/was\s+not\s+done\s+after\s+2\s+s:\s+ended/),
    })
    for (const pid of pids) expectGone(pid)
  })

  test('SIGTERM reaches the whole group once', () => reachesTheGroup('SIGTERM'))

  test('when a command does not listen to Ctrl-C, and it comes again', async () => {
    const exec = start([], client('stubborn'))
    const pid = await pidOf(exec, 'parent')
    exec.kill('SIGINT')
    await exec.prints(/no/)
    await eventually(() => {
      exec.kill('SIGINT')
      expectGone(pid)
    })
    expect((await exec.ended).code).toBe(130)
  })

  test('when it is told to end before the command began', async () => {
    const exec = start([], client('family'))
    const anvil = await eventually(() => {
      const [found] = anvilsOf(exec.child.pid!)
      expect(found).toBeDefined()
      return found!
    })
    exec.kill('SIGTERM')
    expect((await exec.ended).code).toBe(143)
    expectGone(anvil)
  })
})

test('several scenarios give the code of the command that failed, and start no other after one that cannot be started', async () => {
  const failing =
    'curl -s "$YIELD_CONTROL_URL/scenarios" | grep -q \'"current":{"name":"slow-confirmation"\' && exit 6; exit 0'
  const { code, stderr } = await runHere(['exec', ...SCENARIOS, '--', 'sh', '-c', failing])
  expect({ code, stderr }).toMatchObject({ code: 6, stderr: expect.stringMatching(/^slow-confirmation +\w+ +6 /m) })
  const none = await runHere(['exec', ...SCENARIOS, '--jobs', '1', '--', 'no-such-command'])
  expect({ ...none, stderr: none.stderr.match(/^yield-sandbox: .*$/gm) }).toMatchObject({
    code: 2,
    stderr: ['yield-sandbox: scenario dropped-deposit', expect.stringMatching(/no-such-command/)],
  })
})

test('the command can use the command line on its sandbox', async () => {
  const status = ['node', 'bin/yield-sandbox.js', 'scenario', 'list']
  const { stdout } = await exec(['--scenario', 'dropped-deposit'], status)
  expect(stdout).toMatch(/^dropped-deposit\trunning\t/m)
})

test('a report that cannot be written does not hide that the client is wrong', async () => {
  const report = join(directory, 'gone', 'report.json')
  const command = ['sh', '-c', `rm -r '${join(directory, 'gone')}'; exec "$@"`, 'sh', ...client('wrong')]
  const ended = await exec(['--scenario', 'dropped-deposit', '--report', report], command)
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringMatching(/--report .* cannot be written \(ENOENT/) })
})

describe('a baseline', () => {
  test('lets what is known fail, once and no more', async () => {
    const baseline = join(directory, 'baseline.yaml')
    const flags = ['--scenario', 'dropped-deposit', '--baseline', baseline]
    await writeFile(baseline, '- id: idempotency-key-on-retry\n  reason: mended in release 12\n')
    const known = await exec([...flags, '--allow-inconclusive'], client('wrong'))
    expect(known).toMatchObject({ code: 0, stderr: expect.stringMatching(/accepted +mended in release 12/) })
    const stale = await exec(flags, client('right'))
    expect(stale).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/baseline is stale: idempotency-key-on-retry/),
    })
  })
})
