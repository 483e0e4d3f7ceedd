import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { findSandbox } from '../../src/running/find-sandbox.ts'
import { portOwner } from '../../src/running/port-owner.ts'
import { enclosingFolders, projectFolder } from '../../src/running/project-folder.ts'
import { readRecord, type SandboxRecord, writeRecord } from '../../src/running/sandbox-record.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'

let sandbox: Sandbox
let top: string
let place: string
beforeAll(async () => {
  sandbox = await Sandbox.listen({ port: 0 })
})
afterAll(() => sandbox.stop())
beforeEach(async () => {
  top = await realpath(mkdtempSync(join(tmpdir(), 'yield-sandbox-folder-')))
  mkdirSync(join(top, '.git'))
  mkdirSync(join(top, 'app/src'), { recursive: true })
  writeFileSync(join(top, 'app/package.json'), '{}')
  vi.stubEnv('XDG_RUNTIME_DIR', top)
  place = join(top, 'yield-sandbox')
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(top, { recursive: true })
})

function record(changes: Partial<SandboxRecord> = {}): SandboxRecord {
  const { instance, listeningUrl: url } = sandbox
  const started_at = '2026-01-01T00:00:00.000Z'
  const own = { instance, url, pid: process.pid, version: '1', started_at, folder: join(top, 'app'), options: '' }
  return { ...own, flags: [], ...changes }
}

test('a folder belongs to the nearest package or repository, and looks up to the top of the repository', () => {
  expect(projectFolder(join(top, 'app/src'))).toBe(join(top, 'app'))
  expect(enclosingFolders(join(top, 'app/src'))).toEqual([join(top, 'app/src'), join(top, 'app'), top])
})

test('a sandbox is found from its folder and below, and from nowhere else', async () => {
  expect(await findSandbox(join(top, 'app'))).toBeUndefined()
  expect(writeRecord(record())).toBe(true)
  expect(await findSandbox(join(top, 'app/src'))).toEqual(record())
  expect(await findSandbox(top)).toBeUndefined()
  expect(writeRecord(record({ instance: 'second' }))).toBe(false)
})

test('only the user may read it', () => {
  writeRecord(record())
  const [file = ''] = readdirSync(place)
  expect([place, join(place, file)].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600])
})

test.each([
  ['another sandbox has the port', { instance: 'another' }],
  ['nothing listens there', { url: 'http://127.0.0.1:9' }],
])('is dropped when %s', async (_, changes) => {
  writeRecord(record(changes))
  expect(await findSandbox(join(top, 'app'))).toBeUndefined()
  expect(readdirSync(place)).toEqual([])
})

test('a record that others may have put there is not read', () => {
  writeRecord(record())
  const [file = ''] = readdirSync(place)
  chmodSync(place, 0o777)
  expect(readRecord(join(top, 'app'))).toBeUndefined()
  chmodSync(place, 0o700)
  expect(readRecord(join(top, 'app'))).toEqual(record())
  writeFileSync(join(top, 'elsewhere'), JSON.stringify(record()))
  rmSync(join(place, file))
  symlinkSync(join(top, 'elsewhere'), join(place, file))
  expect(readRecord(join(top, 'app'))).toBeUndefined()
})

test('a port is said to belong to the sandbox of its folder', async () => {
  const port = Number(new URL(sandbox.listeningUrl).port)
  expect(await portOwner(port)).toMatch(/^yield-sandbox \S+$/)
  writeRecord(record())
  expect(await portOwner(port)).toMatch(/^yield-sandbox \S+ of .*app, process \d+$/)
})
