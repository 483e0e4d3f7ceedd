import { mkdirSync, writeFileSync } from 'node:fs'
import { type FileHandle, open as openFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { checkOptions } from '../../src/check-options.ts'
import { startCommand } from '../../src/cli/start-command.ts'
import { DataDirectory } from '../../src/data-dir/data-directory.ts'
import { NamespaceFolders } from '../../src/data-dir/namespace-folders.ts'
import { newLife } from '../../src/domain/ports/namespace-registry.ts'
import { resolveOptions } from '../../src/resolve-options.ts'
import { recordedLog } from '../data-dir/recorded-log.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { openSandbox } from './ledger.ts'

/** What is done to files from now on, in order. */
async function followed(): Promise<string[]> {
  const handle = await openFile('/dev/null', 'w')
  const prototype = Object.getPrototypeOf(handle)
  await handle.close()
  const done: string[] = []
  for (const name of ['write', 'writeFile', 'datasync', 'sync']) {
    const original = prototype[name]
    vi.spyOn(prototype, name).mockImplementation(function (this: unknown, ...given: unknown[]) {
      done.push(name)
      return original.apply(this, given)
    })
  }
  return done
}

/** From now on, the disk does not confirm that a file has come into a directory or has gone. */
async function directoriesFail(): Promise<void> {
  const handle = await openFile('/dev/null', 'w')
  const prototype = Object.getPrototypeOf(handle)
  await handle.close()
  const original = prototype.sync
  vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    if (!(await this.stat()).isDirectory()) return original.apply(this)
    throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO', syscall: 'fsync' })
  })
}

afterEach(() => vi.restoreAllMocks())

test.each([
  [true, ['write', 'datasync', 'write', 'datasync'], ['writeFile', 'sync', 'sync']],
  [false, ['write', 'write'], ['writeFile']],
])(
  'with fsync %j, an entry is acknowledged after %j, a change of the manifest after %j',
  async (synced, entry, manifest) => {
    const first = { version: '0.1.0', seed: 7, fixture: 'abc', synced, log: recordedLog() }
    const directory = await DataDirectory.open(temporaryDirectory(), first)
    onTestFinished(() => directory.close())
    const journal = await directory.journal('ledger')
    const done = await followed()
    await journal.append({ a: 1 })
    expect(done.splice(0)).toEqual(entry)
    await directory.manifest.update({ runs: 1 })
    expect(done).toEqual(manifest)
  },
)

describe('where the disk does not confirm that a file is in its place', () => {
  const open = async (path: string) => {
    const first = { version: '0.1.0', seed: 7, fixture: 'abc', synced: true, log: recordedLog() }
    const directory = await DataDirectory.open(path, first)
    onTestFinished(() => directory.close())
    return directory
  }

  test('a change of the manifest that is refused is not there after a start', async () => {
    const path = temporaryDirectory()
    const directory = await open(path)
    await directoriesFail()
    await expect(directory.manifest.update({ runs: 7 })).rejects.toThrow('EIO')
    await directory.close()
    vi.restoreAllMocks()
    expect((await open(path)).manifest.data.runs).toBe(0)
  })

  test('a journal that was written anew is used, and nothing is acknowledged until the disk confirms it', async () => {
    const directory = await open(temporaryDirectory())
    const journal = await directory.journal<number>('ledger')
    await directoriesFail()
    await expect(journal.rewrite([1])).rejects.toThrow('EIO')
    await expect(journal.append(2)).rejects.toThrow('EIO')
    vi.restoreAllMocks()
    await journal.append(3)
    const kept: number[] = []
    for await (const entry of journal.read()) kept.push(entry)
    expect(kept).toEqual([1, 3])
  })

  test('a namespace whose file is gone is deleted', async () => {
    const data = temporaryDirectory()
    const folders = new NamespaceFolders(data)
    const life = newLife('mine')
    mkdirSync(folders.of(life), { recursive: true })
    writeFileSync(join(folders.of(life), 'namespace.json'), '{}')
    await directoriesFail()
    await folders.forget(life)
    expect(await folders.list()).toEqual([])
  })
})

test.each([true, false])('a sandbox with fsync %j does so for a deposit', async (fsync) => {
  const open = await openSandbox({ dataDir: join(temporaryDirectory(), 'data'), fsync })
  onTestFinished(() => open.stop())
  const portfolio = await open.acme.open('carol')
  const done = await followed()
  expect((await open.acme.deposit('carol', portfolio, '1000')).status).toBe(200)
  expect(done.includes('datasync')).toBe(fsync)
  expect(done.includes('write')).toBe(true)
})

test('fsync is a flag, a variable, an option and a line of the fixture file; an option wins over the file', () => {
  const flag = startCommand().options.find(({ long }) => long === '--fsync')
  expect([flag?.envVar, flag?.isBoolean()]).toEqual(['YIELD_SANDBOX_FSYNC', true])
  const resolved = [resolveOptions({}, {}), resolveOptions({ fsync: true }, {}), resolveOptions({}, { fsync: true })]
  expect(resolved.map(({ fsync }) => fsync)).toEqual([false, true, true])
  expect(resolveOptions({ fsync: false }, { fsync: true }).fsync).toBe(false)
  expect(() => checkOptions({ fsync: 'yes' as unknown as boolean })).toThrow('fsync must be true or false; got "yes"')
})
