import { open as openFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { startCommand } from '../../src/cli/start-command.ts'
import { DataDirectory } from '../../src/data-dir/data-directory.ts'
import { resolveOptions } from '../../src/options.ts'
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
  expect(() => resolveOptions({ fsync: 'yes' as unknown as boolean }, {})).toThrow(
    'fsync must be true or false; got yes',
  )
})
