import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { DataDirectory } from '../../src/data-dir/data-directory.ts'
import { DirectoryLock } from '../../src/data-dir/directory-lock.ts'
import { replacePrivate, temporaryOf } from '../../src/data-dir/private-file.ts'
import { recordedLog } from './recorded-log.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const open = (path: string) =>
  DataDirectory.open(path, { version: '0.1.0', seed: 7, fixture: 'abc', log: recordedLog() })
const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8)

/** A directory of mode 755 with a closed data directory in it, as somebody else may have made it. */
async function madeBefore(): Promise<string> {
  const path = join(temporaryDirectory(), 'data')
  mkdirSync(path, { mode: 0o755 })
  const directory = await open(path)
  await (await directory.journal('ledger')).append({ a: 1 })
  await directory.close()
  return path
}

/** Waits for the rejection of opening it and its journal. */
async function refusal(path: string): Promise<string> {
  let directory: DataDirectory | undefined
  try {
    directory = await open(path)
    await directory.journal('ledger')
  } catch (error) {
    return (error as Error).message
  } finally {
    await directory?.close()
  }
  return expect.fail('it was opened')
}

describe('files of a data directory are for its owner alone', () => {
  let umask: number
  beforeAll(() => {
    umask = process.umask(0)
  })
  afterAll(() => void process.umask(umask))

  it('whoever made the directory, its lock included', async () => {
    const path = join(temporaryDirectory(), 'data')
    mkdirSync(path, { mode: 0o755 })
    const directory = await open(path)
    const journal = await directory.journal('ledger')
    await journal.append({ a: 1 })
    await journal.rewrite([{ b: 2 }])
    await directory.manifest.update({ seeded: true })
    const names = readdirSync(path)
    expect(names.toSorted()).toEqual(['ledger.journal', expect.stringMatching(/^lock-/), 'manifest.json'])
    for (const name of names) expect([name, modeOf(join(path, name))]).toEqual([name, '600'])
    await directory.close()
  })

  it('from the moment they are made', async () => {
    const path = join(temporaryDirectory(), 'file')
    const handle = await replacePrivate(path, async (handle) => {
      expect(modeOf(temporaryOf(path))).toBe('600')
      await handle.writeFile('secret')
    })
    await handle.close()
    expect(modeOf(path)).toBe('600')
    expect(readFileSync(path, 'utf8')).toBe('secret')
    expect(existsSync(temporaryOf(path))).toBe(false)
  })

  it('also when they were readable by others, as after a restore', async () => {
    const path = await madeBefore()
    for (const name of ['manifest.json', 'ledger.journal']) chmodSync(join(path, name), 0o644)
    const directory = await open(path)
    await directory.journal('ledger')
    for (const name of ['manifest.json', 'ledger.journal']) expect(modeOf(join(path, name))).toBe('600')
    await directory.close()
  })
})

describe('a planted link', () => {
  it.each(['manifest.json.tmp', 'ledger.journal.tmp'])(
    '%s is removed, and where it leads nothing changes',
    async (name) => {
      const path = await madeBefore()
      const victim = join(temporaryDirectory(), 'victim')
      writeFileSync(victim, 'precious', { mode: 0o644 })
      symlinkSync(victim, join(path, name))
      const directory = await open(path)
      const journal = await directory.journal('ledger')
      await journal.rewrite([{ b: 2 }])
      await directory.begin('0.1.0')
      await directory.close()
      expect([readFileSync(victim, 'utf8'), modeOf(victim)]).toEqual(['precious', '644'])
      expect(readdirSync(path).toSorted()).toEqual(['ledger.journal', 'manifest.json'])
      for (const file of readdirSync(path)) expect(lstatSync(join(path, file)).isFile()).toBe(true)
    },
  )

  it.each(['manifest.json', 'ledger.journal'])('%s is refused, and where it leads nothing changes', async (name) => {
    const path = await madeBefore()
    const victim = join(temporaryDirectory(), 'victim')
    renameSync(join(path, name), victim)
    chmodSync(victim, 0o644)
    const before = readFileSync(victim)
    symlinkSync(victim, join(path, name))
    expect(await refusal(path)).toBe(
      `${join(path, name)}: it is a symbolic link. Fix: put the file itself there, or choose another --data-dir.`,
    )
    expect(readFileSync(victim).equals(before)).toBe(true)
    expect(modeOf(victim)).toBe('644')
  })

  it('of a journal that is not there yet is refused as well', async () => {
    const path = temporaryDirectory()
    const victim = join(temporaryDirectory(), 'victim')
    await (await open(path)).close()
    symlinkSync(victim, join(path, 'ledger.journal'))
    expect(await refusal(path)).toContain('it is a symbolic link')
    expect(existsSync(victim)).toBe(false)
  })

  it('in the place of a lock is not asked, and removed', async () => {
    const path = temporaryDirectory()
    const foreign = join(path, 'foreign.sock')
    let asked = 0
    const server = createServer((socket) => {
      asked++
      socket.end('{"holds":true}')
    }).listen(foreign)
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const data = join(path, 'data')
    mkdirSync(data)
    symlinkSync(foreign, join(data, 'lock-planted.sock'))
    const lock = await DirectoryLock.acquire(data)
    expect(asked).toBe(0)
    expect(readdirSync(data)).toHaveLength(1)
    expect(statSync(foreign).isSocket()).toBe(true)
    await lock.release()
  })
})

it.each(['manifest.json', 'ledger.journal'])('a pipe in the place of %s is refused at once', async (name) => {
  const path = await madeBefore()
  rmSync(join(path, name))
  execFileSync('env', ['mkfifo', join(path, name)])
  expect(await refusal(path)).toContain(`${name}: it is no file`)
})

it.each(['nonsense', '[]', 'null', '"holds"', 'x'.repeat(100_000)])(
  'a socket of the lock that says %.20s is taken for one that holds it',
  async (words) => {
    const path = temporaryDirectory()
    const server = createServer((socket) => socket.on('error', () => undefined).end(words))
    server.listen(join(path, 'lock-foreign.sock'))
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    await expect(DirectoryLock.acquire(path)).rejects.toThrow(`${path}: another sandbox uses it.`)
  },
)
