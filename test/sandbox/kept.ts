import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { Partner } from '../helpers/partner.ts'

let directory: string
export const running: SandboxHandle[] = []

/** A directory for each test of a file, or for all of them, and an end for whatever they start on it. */
export function openKept(extent: 'each test' | 'all tests' = 'each test'): void {
  const [before, after] = extent === 'each test' ? [beforeEach, afterEach] : [beforeAll, afterAll]
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-kept-'))
  })
  after(async () => {
    for (const sandbox of running.splice(0)) await sandbox.stop()
    await rm(directory, { recursive: true, force: true })
  })
}

/** Starts a sandbox on the test's directory. */
export async function start(): Promise<SandboxHandle> {
  const sandbox = await startSandbox({ port: 0, confirmationDelay: 0, seed: 7, dataDir: join(directory, 'data') })
  running.push(sandbox)
  return sandbox
}

/** The sandbox that the test before has left, with no namespace but the default one; the first test starts it. */
export async function goOn(): Promise<SandboxHandle> {
  const sandbox = running[0] ?? (await start())
  for (const { name } of await sandbox.namespaces.list()) if (name !== 'default') await sandbox.namespaces.delete(name)
  return sandbox
}

/** Ends it, and starts another one. */
export async function restart(): Promise<SandboxHandle> {
  for (const sandbox of running.splice(0)) await sandbox.stop()
  return start()
}

/** A handle of a namespace that is there already, with the credentials it was made with. */
export const again = async (sandbox: SandboxHandle, made: SandboxHandle): Promise<Partner> => {
  const { tenants } = made
  return new Partner(Object.assign(Object.create(sandbox), { tenants }))
}
export const kept = () => join(directory, 'data', 'namespaces')
export const folders = () => readdir(kept()).catch(() => [])
/** The folder of the namespace that has this name at present. */
export async function folderOf(name: string): Promise<string> {
  const folder = (await folders()).find((one) => one.startsWith(`${name}.`))
  return join(kept(), folder ?? expect.fail(`no folder of ${name}`))
}
