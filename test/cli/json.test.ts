import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { testSandbox } from '../helpers/partner.ts'
import { execClients } from './exec-clients.ts'
import { runHere } from './in-process.ts'

const { client } = execClients()
let sandbox: SandboxHandle
let folder: string
beforeAll(async () => {
  sandbox = await testSandbox()
  folder = await mkdtemp(join(tmpdir(), 'yield-sandbox-json-'))
})
afterAll(async () => {
  await sandbox.stop()
  await rm(folder, { recursive: true })
})

/** What a command prints with --json, and how it ends. */
async function json(...args: string[]): Promise<{ code: number | null; data: unknown; stderr: string }> {
  const { code, stdout, stderr } = await runHere(args, { YIELD_SANDBOX_URL: sandbox.baseUrl })
  expect(stdout.trim(), stderr).not.toBe('')
  return { code, data: JSON.parse(stdout), stderr }
}

test('exec prints its result alone; what the command prints goes to stderr', async () => {
  const report = join(folder, 'report.json')
  const { code, data, stderr } = await json(
    'exec',
    '--json',
    '--require',
    'retry-after',
    '--report',
    report,
    '--',
    ...client('pools'),
  )
  expect(code).toBe(4)
  const run = { scenario: null, verdict: 'inconclusive', command: '0', reason: expect.stringContaining('retry-after') }
  expect(data).toMatchObject({ verdict: 'inconclusive', exit_code: 4, runs: [run] })
  const [{ report: shown } = {}] = (data as { runs: { report?: unknown }[] }).runs
  expect(JSON.parse(await readFile(report, 'utf8'))).toMatchObject({
    verdict: 'inconclusive',
    seed: (shown as { seed: number }).seed,
  })
  expect(stderr).toMatch(/^200$/m)
})

test('of several runs, one by one and beside each other, each is in the result', async () => {
  const scenarios = ['--scenario', 'dropped-deposit', '--scenario', 'rate-limited']
  const { data } = await json('exec', '--json', ...scenarios, '--', 'sh', '-c', 'echo mine; exit 5')
  expect(data).toMatchObject({
    exit_code: 5,
    runs: [
      { scenario: 'dropped-deposit', command: '5' },
      { scenario: 'rate-limited', command: '5' },
    ],
  })
})

describe('commands on a sandbox print JSON:', () => {
  test.each([
    [['token'], { token: expect.stringMatching(/^eyJ/) }],
    [['user-token', 'alice'], { token: expect.stringMatching(/^eyJ/) }],
    [['wait'], { ready: true }],
    [['status'], { ready: true }],
    [['clock'], { frozen: false }],
    [['faults', 'list'], []],
    [['faults', 'add', 'outage'], [{ kind: 'outage' }]],
    [['faults', 'clear'], []],
    [['scenario', 'list'], { current: null }],
    [['scenario', 'run', 'rate-limited'], { name: 'rate-limited' }],
    [['scenario', 'stop'], { name: 'rate-limited' }],
    [['requests', 'list'], { data: [] }],
    [['namespaces', 'list'], [{ name: 'default' }]],
    [['reset'], { ready: true }],
  ])('%j', async (args, data) => {
    expect(await json(...args, '--json')).toMatchObject({ code: 0, data })
  })
})

test('fixtures validate prints what is wrong as JSON as well', async () => {
  const file = join(folder, 'mine.yaml')
  await writeFile(file, 'tenantss: []\n')
  const { code, data } = await json('fixtures', 'validate', file, '--json')
  expect(code).toBe(2)
  const issue = { path: 'tenantss', line: 1, fix: expect.stringContaining('tenants') }
  expect(data).toMatchObject({ file, sound: false, issues: expect.arrayContaining([expect.objectContaining(issue)]) })
  expect(await json('fixtures', 'init', join(folder, 'new'), '--json')).toMatchObject({
    data: { file: join(folder, 'new', 'sandbox.yaml') },
  })
})

test('report --open opens the inspector, or says its address where there is no display', async () => {
  const ended = await runHere(['report', '--open', '--namespace', 'default'], { YIELD_SANDBOX_URL: sandbox.baseUrl })
  expect(ended.stderr).toContain(
    `there is no browser to open here; open ${sandbox.baseUrl}/#verdict?namespace=default\n`,
  )
  const written = join(folder, 'report.html')
  const opened = await runHere(['report', '--open', '--output', written], {
    YIELD_SANDBOX_URL: sandbox.baseUrl,
    BROWSER: 'true-',
  })
  expect(opened.stderr).toContain(`open file://${written}\n`)
})

describe('doctor', () => {
  test('examines this machine: a sandbox on the port is worth knowing, and its clock is that of this machine', async () => {
    const port = new URL(sandbox.baseUrl).port
    const { code, data } = await json('doctor', '--port', port, '--json')
    expect(data).toMatchObject({ ok: true })
    const { checks } = data as { checks: { id: string; state: string; detail: string }[] }
    const ids = ['node', 'anvil', 'glibc', 'port', 'fixtures', 'clock', 'proxy', 'left_running']
    expect(checks.map(({ id }) => id)).toEqual(ids)
    expect(checks[3]).toMatchObject({ state: 'note', detail: expect.stringContaining('that of a sandbox') })
    expect(checks[5]).toMatchObject({ state: 'good', detail: expect.stringContaining(sandbox.baseUrl) })
    expect(code).toBe(0)
  })

  test('fails when something is broken, with the fix in the next line', async () => {
    const { code, stdout } = await runHere(['doctor', '--port', '0', '--fixtures', join(folder, 'none.yaml')])
    expect(stdout).toMatch(/^✓ node +Node \d/m)
    expect(stdout).toMatch(/^✗ fixtures +.*none\.yaml.*\n {15}Fix: yield-sandbox fixtures validate .*none\.yaml/m)
    expect(code).toBe(1)
  })
})
