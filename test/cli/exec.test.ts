import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { anvilsOf } from '../helpers/anvils.ts'
import type { Ended } from './command.ts'
import { execClients } from './exec-clients.ts'
import { execGroups } from './exec-groups.ts'
import { expectOneReport } from './exec-scenarios.ts'
import { expectClear } from './expect-clear.ts'
import { expectGone } from './expect-gone.ts'
import { runHere } from './in-process.ts'
import { sandboxOfFolder } from './sandbox-of-folder.ts'

const { directory, client } = execClients()

const { reachesTheGroup } = execGroups(client)

const within = sandboxOfFolder()

const exec = (flags: readonly string[], command: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
  runHere(['exec', ...flags, '--', ...command], { ...within(), ...env })
/** The same in a sandbox of its own. */
const execAlone: typeof exec = (flags, ...rest) => exec(['--no-join', ...flags], ...rest)

describe('exec ends with', () => {
  test('0 when the client is right, and 3 when it is wrong', async () => {
    const flags = ['--scenario', 'dropped-deposit', '--require', 'idempotency-key-on-retry']
    const right = await execAlone(flags, client('right'))
    expect(right).toMatchObject({ code: 0, stdout: 'deposited 200\n', stderr: expect.stringMatching(/passed/i) })
    const wrong = await execAlone(flags, client('wrong'))
    expect(wrong).toMatchObject({ code: 3, stdout: 'deposited 200\n', stderr: expect.stringMatching(/pays twice/) })
  })

  test('3 by a fault on the spot as well', async () => {
    const fault = 'drop_connection; phase=after_broadcast; operation=deposit; external_id=alice'
    expect(await exec(['--fault', fault], client('wrong'))).toMatchObject({ code: 3 })
  })

  test('4 when what was asked for did not come about, or 0 where that is allowed', async () => {
    const flags = ['--require', 'retry-after']
    expect(await exec(flags, client('pools'))).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/inconclusive/i),
    })
    expect(await exec([...flags, '--allow-inconclusive'], client('pools'))).toMatchObject({ code: 0, stdout: '200\n' })
  })

  test('4 when nothing was done at all, whatever is allowed', async () => {
    expect(await exec([], ['true'])).toMatchObject({ code: 4, stdout: '' })
    expect(await exec(['--allow-inconclusive'], ['true'])).toMatchObject({ code: 4 })
  })

  test("the command's own code when it fails, or 128 and its signal", async () => {
    expect(await exec(['--scenario', 'dropped-deposit'], ['sh', '-c', 'exit 7'])).toMatchObject({ code: 7 })
    expect(await exec([], ['sh', '-c', 'kill -KILL $$'])).toMatchObject({ code: 137 })
  })
})

// The command line on its sandbox, a report that cannot be written at the end, a baseline: exec.long.test.ts.
describe('the command', () => {
  test('has its streams for itself, and knows where the sandbox is', async () => {
    const env = { OTHER: 'kept', YIELD_BASE_URL: 'http://elsewhere' }
    const ended = await execAlone(['--env', 'API_URL=YIELD_BASE_URL'], client('environment'), env)
    const seen = JSON.parse(ended.stdout)
    expect(seen).toMatchObject({
      OTHER: 'kept',
      API_URL: seen.YIELD_BASE_URL,
      YIELD_BASE_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      YIELD_PRIVATE_KEY_PEM: expect.stringContaining('PRIVATE KEY'),
      YIELD_EXTERNAL_ID: 'alice',
    })
    expect(ended.stderr).toMatch(/^on stderr\n/)
  })

  // With other reasons: exec.long.test.ts, and test/exec/command-start-error.test.ts for each sentence.
  test.each([
    [['no-such-command'], /"no-such-command" is not a command on this machine: PATH has nothing of that name/],
  ])('%j that cannot be started is refused in one line', async (command, line) => {
    const before = anvilsOf(process.pid)
    expectClear(await execAlone([], command), { code: 2, line })
    expect(anvilsOf(process.pid).filter((pid) => !before.includes(pid))).toEqual([])
  })
})

describe('nothing is left running', () => {
  // SIGTERM, a time limit and whoever does not listen: exec.long.test.ts.
  test('SIGINT reaches the whole group once', () => reachesTheGroup('SIGINT'))

  test('when a command ends and leaves others behind: that is said', async () => {
    const { code, stdout, stderr } = await exec([], client('forking'))
    expect(code).toBe(4)
    expect(stderr).toMatch(/left a process running: ended \(.+\)\n/)
    expectGone(Number(stdout.split(' ')[1]))
  })
})

describe('several scenarios', () => {
  // One at a time, and in sandboxes of their own: exec.long.test.ts.
  test('three at a time give one table, one report and one code', () =>
    expectOneReport('3', directory, client('pools'), within()))
})

describe('reports', () => {
  test('are written in the form of the suffix, in folders that are made', async () => {
    const files = ['json', 'xml', 'sarif', 'md', 'html'].map((suffix) => join(directory, 'reports', `report.${suffix}`))
    const { code } = await exec(
      ['--require', 'retry-after', ...files.flatMap((file) => ['--report', file])],
      client('pools'),
    )
    expect(code).toBe(4)
    const [json, xml, sarif, markdown, html] = await Promise.all(files.map((file) => readFile(file, 'utf8')))
    expect(JSON.parse(json!)).toMatchObject({ verdict: 'inconclusive', findings: expect.any(Array) })
    expect(JSON.parse(sarif!)).toMatchObject({ version: '2.1.0' })
    expect([xml, markdown, html]).toEqual([
      expect.stringContaining('<testsuite'),
      expect.stringMatching(/^#/),
      expect.stringMatching(/^<!doctype html>/i),
    ])
  })

  test('that cannot be written end it before anything is run', async () => {
    const witness = join(directory, 'witness')
    const ended = await execAlone(['--report', '/proc/none/report.json'], ['touch', witness])
    expectClear(ended, { code: 2, line: /--report \/proc\/none\/report\.json cannot be written \(ENOENT/ })
    expect(existsSync(witness)).toBe(false)
  })
})

test('what the command did not wait for is known to be given up', async () => {
  const report = join(directory, 'leaving.json')
  await exec(
    ['--fault', 'hang; operation=deposit', '--require', 'outcome-after-drop', '--report', report],
    client('leaving'),
  )
  const { exchanges } = JSON.parse(await readFile(report, 'utf8'))
  expect(exchanges.at(-1)).toMatchObject({ operation: 'deposit', answer: expect.stringMatching(/^client left after /) })
})
