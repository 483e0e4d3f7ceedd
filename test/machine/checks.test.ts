import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AnvilBinaryMissingError } from '../../src/chain/node/anvil-process.ts'
import { checkLeftRunning } from '../../src/machine/check-left-running.ts'
import { checkAnvil, checkGlibc, checkNode } from '../../src/machine/check-runtime.ts'
import { checkClock, checkFixtures, checkPort, checkProxy } from '../../src/machine/check-surroundings.ts'
import { ownProcesses } from '../../src/machine/processes.ts'

const NOW = Date.UTC(2027, 0, 1)

describe('node, glibc and Anvil', () => {
  test.each([
    ['18.20.0', 'broken'],
    ['20.18.9', 'broken'],
    ['20.19.0', 'good'],
    ['24.1.0', 'good'],
  ])('Node %s is %s', (version, state) => {
    expect(checkNode(version)).toMatchObject({ state, detail: expect.stringContaining(version) })
  })

  test.each([
    ['linux', '2.31', 'broken'],
    ['linux', '2.35', 'good'],
    ['darwin', '2.0', 'good'],
  ])('on %s, glibc %s is %s', (platform, version, state) => {
    expect(checkGlibc(platform, version).state).toBe(state)
  })

  test('Anvil runs, is missing, does not run, or has another version, each with the fix', async () => {
    expect(await checkAnvil()).toMatchObject({ state: 'good' })
    const missing = () => {
      throw new AnvilBinaryMissingError('it is not installed')
    }
    expect(await checkAnvil(missing)).toMatchObject({ state: 'broken', fix: expect.stringContaining('npm install') })
    const failing = () => Promise.reject(new Error('spawn EACCES'))
    const binary = () => '/opt/anvil'
    expect(await checkAnvil(binary, failing)).toMatchObject({
      state: 'broken',
      detail: expect.stringContaining('EACCES'),
      fix: expect.stringContaining('/opt/anvil'),
    })
    expect(await checkAnvil(binary, () => Promise.resolve('anvil 0.1.2'))).toMatchObject({
      state: 'broken',
      detail: expect.stringContaining('0.1.2'),
    })
  })
})

describe('what answers beside it', () => {
  const health = { status: 'ok', version: '0.0.1', uptime_seconds: 7 }
  const sandbox = createServer((_, response) => {
    response.setHeader('date', new Date(NOW).toUTCString())
    response.setHeader('content-type', 'application/json').end(JSON.stringify(health))
  })
  const other = createServer((_, response) => response.writeHead(500).end('no'))
  const portOf = (server: typeof sandbox) => (server.address() as AddressInfo).port
  beforeAll(async () => {
    for (const one of [sandbox, other]) await new Promise<void>((done) => one.listen(0, '127.0.0.1', done))
  })
  afterAll(() => {
    for (const one of [sandbox, other]) one.close()
  })

  test('the port is that of a sandbox, of another program, or free', async () => {
    expect(await checkPort(portOf(sandbox))).toMatchObject({
      state: 'note',
      fix: expect.stringContaining('stop --url'),
    })
    expect(await checkPort(portOf(other))).toMatchObject({ state: 'broken', fix: expect.stringContaining('--port 0') })
    expect(await checkPort(0)).toMatchObject({ state: 'good' })
  })

  test('the clock is compared with that of the sandbox, and with the days of this version', async () => {
    const url = `http://127.0.0.1:${portOf(sandbox)}`
    expect(await checkClock(url, NOW + 500)).toMatchObject({ state: 'good' })
    const skewed = await checkClock(url, NOW + 90_000)
    expect(skewed).toMatchObject({ state: 'broken', detail: expect.stringContaining('90 s behind') })
    expect(await checkClock('http://127.0.0.1:9', Date.UTC(2001, 1, 1))).toMatchObject({ state: 'broken' })
    expect(await checkClock('http://127.0.0.1:9', NOW)).toMatchObject({ state: 'good' })
  })
})

test.each([
  [{}, 'good'],
  [{ HTTP_PROXY: 'http://secret@proxy' }, 'note'],
  [{ http_proxy: 'http://secret@proxy', NO_PROXY: 'localhost' }, 'note'],
  [{ http_proxy: 'http://secret@proxy', no_proxy: 'acme.test, localhost,127.0.0.1' }, 'good'],
  [{ ALL_PROXY: 'http://secret@proxy', NO_PROXY: '*' }, 'good'],
])('with %j the proxy is %s, and its value is not shown', (env, state) => {
  const check = checkProxy(env)
  expect(check.state).toBe(state)
  expect(JSON.stringify(check)).not.toContain('secret')
})

test('fixtures: the shipped file is sound; the first fault of another is shown', async ({ onTestFinished }) => {
  expect(await checkFixtures()).toMatchObject({ state: 'good' })
  const { mkdtempSync, rmSync } = await import('node:fs')
  const folder = mkdtempSync('/tmp/yield-sandbox-checks-')
  onTestFinished(() => rmSync(folder, { recursive: true }))
  await writeFile(`${folder}/mine.yaml`, 'tenantss: []\n')
  const broken = await checkFixtures(`${folder}/mine.yaml`)
  expect(broken).toMatchObject({
    state: 'broken',
    detail: expect.stringMatching(/mine\.yaml:1:1 pools: is missing.*\(and 2 more\)/),
  })
})

describe('left running', () => {
  const anvil = (pid: number, parent: number) => ({
    pid,
    parent,
    command: `/opt/anvil --host 127.1.2.3 --cache-path /tmp/yield-sandbox-anvil-abc --quiet`,
  })
  const starting = { ...anvil(9, 1), command: `/bin/sh -c exec "$0" "$@" ${anvil(9, 1).command}` }
  const worker = { pid: 40, parent: 30, command: 'node jest/worker' }
  const adopter = { pid: 3, parent: 1, command: '/lib/systemd/systemd --user' }
  const sandbox = { pid: 20, parent: 1, command: 'node bin/yield-sandbox.js --port 0' }

  test.each([
    [
      'nothing',
      [starting, { pid: 30, parent: 1, command: 'node bin/yield-sandbox.js requests list' }],
      'good',
      'nothing',
    ],
    ['an Anvil without its sandbox', [anvil(7, 1), starting], 'broken', '7'],
    ['a sandbox of the command line', [sandbox, anvil(7, 20)], 'note', '20 (node bin/yield-sandbox.js --port 0)'],
    ['a test worker whose run has ended', [worker, anvil(7, 40)], 'note', '40 (node jest/worker)'],
    [
      'a test worker whose run goes on',
      [{ pid: 30, parent: 2, command: 'node jest' }, worker, anvil(7, 40)],
      'good',
      'nothing',
    ],
    ['a sandbox that systemd has taken over', [adopter, { ...sandbox, parent: 3 }], 'note', '20 (node'],
  ])('%s', async (_, list, state, text) => {
    const check = await checkLeftRunning(() => Promise.resolve(list), 1000)
    expect(check).toMatchObject({ state, detail: expect.stringContaining(text) })
    if (state === 'broken') expect(check.fix).toBe('kill 7')
  })

  test('the processes of this user are listed, this one among them', async () => {
    const all = await ownProcesses()
    expect(all?.find(({ pid }) => pid === process.pid)).toMatchObject({ parent: process.ppid })
  })
})
