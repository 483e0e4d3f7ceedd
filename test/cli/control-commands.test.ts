import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { testSandbox } from '../helpers/partner.ts'
import { type Ended, run } from './command.ts'
import { runHere } from './in-process.ts'

let sandbox: SandboxHandle
let directory: string

beforeAll(async () => {
  sandbox = await testSandbox()
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-control-'))
})
afterAll(async () => {
  await sandbox.stop()
  await rm(directory, { recursive: true })
})
beforeEach(() => sandbox.reset())

const at = (...args: string[]) => runHere(args, { YIELD_SANDBOX_URL: sandbox.baseUrl })

/** Columns of each line of a command that must have succeeded. */
async function rows(...args: string[]): Promise<string[][]> {
  const { code, stdout, stderr } = await at(...args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')]))
}

/** A command that must have failed in one clear line. */
function expectRefused({ code, stdout, stderr }: Ended, expected: { code: number; line: RegExp }): void {
  expect(stderr).toMatch(expected.line)
  expect(stderr).not.toMatch(/^\s+at /m)
  expect({ code, stdout }).toEqual({ code: expected.code, stdout: '' })
}

describe('faults', () => {
  test('are added with everything a rule can say, listed, and cleared', async () => {
    const added = await rows(
      ...['faults', 'add', 'drop_connection', '--phase', 'after_broadcast', '--operation', 'deposit'],
      ...['--tenant', 'acme', '--external-id', 'alice', '--skip', '1', '--times', 'always', '--probability', '0.5'],
      ...['--with', 'how=truncate', '--with', 'bytes=20'],
    )
    const where = 'operation=deposit,tenant=acme,external_id=alice'
    expect(added).toEqual([
      ['fault-1', 'drop_connection', 'after_broadcast', '0', where, expect.stringContaining('after 20 bytes')],
    ])
    expect(await sandbox.faults.list()).toMatchObject([
      { skip: 1, times: 'always', probability: 0.5, with: { how: 'truncate', bytes: 20 } },
    ])
    await sandbox.faults.add({ kind: 'expired_cursor' })
    expect((await rows('faults', 'list')).map(([id, kind]) => [id, kind])).toEqual([
      ['fault-1', 'drop_connection'],
      ['fault-2', 'expired_cursor'],
    ])
    const { stdout } = await at('faults', 'list', '--json')
    expect(JSON.parse(stdout)).toEqual(await sandbox.faults.list())
    expect(await rows('faults', 'clear', 'fault-1')).toEqual([])
    expect((await sandbox.faults.list()).map(({ id }) => id)).toEqual(['fault-2'])
    expect(await rows('faults', 'clear')).toEqual([])
    expect(await sandbox.faults.list()).toEqual([])
  })

  test.each([
    [['drop_conection'], /kind: "drop_conection" .*did you mean "drop_connection"/],
    [['revert', '--operation', 'depositt'], /match\.operation: "depositt" .*did you mean "deposit"/],
    [['revert', '--tenant', 'acmee'], /match\.tenant: "acmee" .*did you mean "acme"/],
    [['revert', '--times', 'never'], /times: .*"?never/],
    [['slow_confirmation', '--with', 'delay=soon'], /with\.delay: .*soon/],
    [['slow_confirmation', '--with', 'delay'], /--with.*name=value/],
    [[], /missing required argument 'kind'/],
  ])('add %j is refused in the words of the sandbox, with code 2', async (args, line) => {
    expectRefused(await at('faults', 'add', ...args), { code: 2, line })
    expect(await sandbox.faults.list()).toEqual([])
  })

  test('clear of an unknown one is refused', async () => {
    expectRefused(await at('faults', 'clear', 'fault-9'), { code: 2, line: /No fault with this id/ })
  })
})

describe('clock', () => {
  test('is shown, moved on, frozen and let run', async () => {
    expect(await rows('clock')).toEqual([[expect.stringMatching(/^\d{4}-.*Z$/), 'running', '0']])
    const [[now = '', state, ahead] = []] = await rows('clock', '--advance', '8d', '--freeze')
    expect([now, state, ahead]).toEqual([await sandbox.clock.iso(), 'frozen', String(8 * 24 * 3600)])
    expect((await rows('clock', '--set', '2099-01-01T00:00:00Z'))[0]?.slice(0, 2)).toEqual([
      '2099-01-01T00:00:00.000Z',
      'frozen',
    ])
    const { stdout } = await at('clock', '--unfreeze', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ frozen: false, now: expect.stringMatching(/^2099-/) })
  })

  test.each([
    [['--advance', 'soon'], /"soon" is not a duration; write 0, 250ms/],
    [['--set', '2020-01-01T00:00:00Z'], /only moves forward/],
    [['--set', 'tomorrow'], /"tomorrow" is not an ISO 8601/],
    [['--set', '2029-02-30'], /"2029-02-30" is not an ISO 8601/],
    [['--advance', '8'], /"8" has no unit; write 8s, or 8ms/],
    [['--freeze', '--unfreeze'], /cannot be used with/],
    [['--advance', '1d', '--set', '2099-01-01T00:00:00Z'], /cannot be used with/],
  ])('%j is refused with code 2', async (args, line) => {
    expectRefused(await at('clock', ...args), { code: 2, line })
  })
})

describe('scenario', () => {
  test('list, run by name, stop', async () => {
    const listed = await rows('scenario', 'list')
    expect(listed.map(([, state]) => state)).toEqual(listed.map(() => '-'))
    expect(await rows('scenario', 'run', 'dropped-deposit')).toEqual([
      ['scenario', 'dropped-deposit', 'running'],
      ['seed', '7'],
      ['fault', 'fault-1', '0', expect.stringContaining('reset')],
    ])
    expect(await rows('scenario', 'list')).toContainEqual(['dropped-deposit', 'running', expect.any(String)])
    expectRefused(await at('scenario', 'run', 'unknown-fields'), { code: 1, line: /dropped-deposit is running; stop/ })
    expect((await rows('scenario', 'stop'))[0]).toEqual(['scenario', 'dropped-deposit', 'stopped'])
    expect(await rows('scenario', 'stop')).toEqual([])
  })

  test('run from a file', async () => {
    const file = join(directory, 'my-own.yaml')
    await writeFile(file, 'name: my-own\ndescription: Frozen.\nfaults: [{ kind: revert }]\nclock: [{ freeze: true }]\n')
    const { stdout } = await at('scenario', 'run', file, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ name: 'my-own', state: 'running', faults: [{ kind: 'revert' }] })
    expect((await sandbox.clock.state()).frozen).toBe(true)
    expect(await rows('scenario', 'list')).toContainEqual(['my-own', 'running', 'Frozen.'])
  })

  test('an unknown name, a missing file and a bad one are refused with code 2', async () => {
    const unknown = await at('scenario', 'run', 'droped-deposit')
    expectRefused(unknown, { code: 2, line: /"droped-deposit"; did you mean "dropped-deposit"\?/ })
    expectRefused(await at('scenario', 'run', './nope.yaml'), { code: 2, line: /nope\.yaml: no such file/ })
    const file = join(directory, 'bad.yaml')
    await writeFile(file, 'name: bad\ndescription: x\nclock: [{ advance: soon }]\n')
    const bad = await at('scenario', 'run', file)
    expectRefused(bad, { code: 2, line: /bad\.yaml:3:20 clock\[0\]\.advance: "soon" is not a duration/ })
    await writeFile(file, 'name: bad\ndescription: x\nfaults: [{ kind: revert, match: { tenant: acmee } }]\n')
    const tenant = await at('scenario', 'run', file)
    expectRefused(tenant, { code: 2, line: /faults\[0\]\.match\.tenant: "acmee" .*did you mean "acme"/ })
  })
})

test('reset takes everything back', async () => {
  await rows('scenario', 'run', 'reverted-deposit')
  await rows('clock', '--advance', '8d')
  expect(await rows('reset')).toEqual([['ready']])
  expect([await sandbox.faults.list(), (await rows('clock'))[0]?.[2]]).toEqual([[], '0'])
  const { stdout } = await at('reset', '--json')
  expect(JSON.parse(stdout)).toEqual({ ready: true })
})

test.each([
  [['faults', 'list']],
  [['faults', 'add']],
  [['faults', 'clear']],
  [['clock']],
  [['scenario', 'list']],
  [['scenario', 'run']],
  [['scenario', 'stop']],
  [['reset']],
])('%j --help shows examples, --url, --control-token and --json', async (args) => {
  const { code, stdout } = await runHere([...args, '--help'])
  expect(code).toBe(0)
  for (const part of [`\n  yield-sandbox ${args.join(' ')}`, '--url <url>', '--control-token <t>', '--json']) {
    expect(stdout).toContain(part)
  }
})

test('as a process of its own it ends with the same words and codes', async () => {
  const env = { YIELD_SANDBOX_URL: sandbox.baseUrl }
  expect(await run(['faults', 'add', 'revert'], { env })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^fault-1\trevert\t/),
  })
  expectRefused(await run(['faults', 'add', 'revrt'], { env }), { code: 2, line: /"revrt" .*"revert"/ })
})

test('no sandbox at the address is code 1, with what to do', async () => {
  const ended = await runHere(['clock', '--url', 'http://127.0.0.1:9'])
  expectRefused(ended, { code: 1, line: /no sandbox answers at http:\/\/127\.0\.0\.1:9; start one/ })
})
