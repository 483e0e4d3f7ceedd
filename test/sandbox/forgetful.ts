import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { eventually } from '../helpers/eventually.ts'

export const TOKEN = 'correct-horse-battery'

export let sandbox: SandboxHandle
let dataDir: string

/** Starts the sandbox of a file's tests, which deletes what nobody uses for four seconds, and stops it after them. */
export function openForgetful(): void {
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'yield-expiry-'))
    const given = { port: 0, confirmationDelay: 0, controlToken: TOKEN, dataDir }
    sandbox = await startSandbox({ ...given, namespaceExpiry: '4s' })
  })
  afterAll(async () => {
    await sandbox.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
export const isThere = async ({ namespace }: SandboxHandle) =>
  (await sandbox.namespaces.list()).some(({ name }) => name === namespace)
export const gone = (one: SandboxHandle) =>
  eventually(async () => {
    expect(await isThere(one)).toBe(false)
    expect((await readdir(join(dataDir, 'namespaces'))).some((life) => life.startsWith(`${one.namespace}.`))).toBe(
      false,
    )
  })
