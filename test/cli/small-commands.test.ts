import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KINDS } from '../../src/faults/kinds/index.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { shippedScenarios } from '../../src/scenarios/find-scenario.ts'
import { FINDING_IDS } from '../../src/verdict/finding-ids.ts'
import { testNamespace } from '../helpers/partner.ts'
import { ROOT } from './command.ts'
import { expectClear } from './expect-clear.ts'
import { runHere } from './in-process.ts'

let sandbox: SandboxHandle
let directory: string
beforeAll(async () => {
  sandbox = await testNamespace()
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-small-'))
})
afterAll(async () => {
  await sandbox.stop()
  await rm(directory, { recursive: true })
})

/** The first column of what a command prints that must have succeeded. */
async function first(...args: string[]): Promise<string[]> {
  const { code, stdout } = await runHere(args, { YIELD_SANDBOX_URL: 'http://127.0.0.1:9' })
  expect(code).toBe(0)
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t')[0] ?? '')
}

describe('without a sandbox', () => {
  test('findings, kinds of faults and the shipped scenarios are listed', async () => {
    expect(await first('findings')).toEqual([...FINDING_IDS])
    expect(await first('faults', 'kinds')).toEqual(KINDS.map(({ kind }) => kind))
    expect(await first('scenario', 'list')).toEqual((await shippedScenarios()).map(({ name }) => name))
  })

  test('one finding says all about itself, and an unknown one is refused with the nearest', async () => {
    expect(await first('findings', 'retry-after')).toEqual(expect.arrayContaining(['id', 'rule', 'fix']))
    expectClear(await runHere(['findings', 'retry-afte']), {
      code: 2,
      line: /There is no finding "retry-afte": did you mean "retry-after"\?/,
    })
  })

  test.each([
    [['--max-nodes', '0'], /'--max-nodes <n>' argument '0' is invalid. It must be a whole number of at least 1/],
    [['--control-token', ''], /--control-token must not be empty; leave it out/],
  ])('start %j is refused by name', async (flags, line) => {
    expectClear(await runHere(['start', '--port', '0', ...flags]), { code: 2, line })
  })
})

test.each([
  ['code', /code: "nope" is not an error code; use one of validation_error, /],
  ['tenant', /tenant: "nope" is not the slug of a tenant; use one of acme, /],
  ['fault', /fault: "nope" is not the id or kind of a fault; /],
])('requests list says that there is no such %s', async (filter, line) => {
  const ended = await runHere(['requests', 'list', `--${filter}`, 'nope'], { YIELD_SANDBOX_URL: sandbox.baseUrl })
  expectClear(ended, { code: 2, line })
})

test.each([
  ['--fault', 'fault-7'],
  ['--fault', 'drop_connection'],
  ['--tenant', 'acme'],
])('requests list %s %s may find nothing', async (...filter) => {
  expect(await runHere(['requests', 'list', ...filter], { YIELD_SANDBOX_URL: sandbox.baseUrl })).toMatchObject({
    code: 0,
  })
})

test('a sandbox whose reader has read enough ends, and ends well', () => {
  const piped = '{ node bin/yield-sandbox.js --port 0; echo "code $?" >&2; } | head -1'
  const { stdout, stderr } = spawnSync('sh', ['-c', piped], { cwd: ROOT, encoding: 'utf8', timeout: 60_000 })
  expect(stdout.split('\n')).toHaveLength(2)
  expect(stderr).toMatch(/^code 0$/m)
})

test.each(['explore --help', 'findings', 'openapi'])('%s ends quietly when its reader has gone', (words) => {
  // The reader closes its end of the pipe, and only then lets the command begin.
  const piped = `mkfifo "$0"
    { read -r _ < "$0"; node bin/yield-sandbox.js ${words}; echo "code $?" >&2; } | { exec 0<&-; echo > "$0"; }`
  const gone = join(directory, `gone-${words.replaceAll(' ', '')}`)
  const { stderr } = spawnSync('sh', ['-c', piped, gone], { cwd: ROOT, encoding: 'utf8', timeout: 60_000 })
  expect(stderr).toBe('code 0\n')
})

test.skipIf(!existsSync('/dev/full'))('output that cannot be written is a failure in one line', () => {
  const full = 'node bin/yield-sandbox.js findings > /dev/full'
  const { stderr, status } = spawnSync('sh', ['-c', full], { cwd: ROOT, encoding: 'utf8', timeout: 60_000 })
  expect(stderr).toBe('yield-sandbox: no space is left on the device that this is written to\n')
  expect(status).toBe(1)
})
