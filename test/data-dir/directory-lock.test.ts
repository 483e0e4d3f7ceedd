import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DataDirectory } from '../../src/data-dir/data-directory.ts'
import { DirectoryLock } from '../../src/data-dir/directory-lock.ts'
import { bundled, startChild } from './child-process.ts'
import { recordedLog } from './recorded-log.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const open = (path: string) =>
  DataDirectory.open(path, { version: '0.1.0', seed: 1, fixture: 'abc', log: recordedLog() })
const sockets = (path: string) => readdirSync(path).filter((name) => DirectoryLock.owns(name))

async function workplace() {
  const own = temporaryDirectory()
  const script = await bundled('./lock-child.ts', own)
  return { path: join(own, 'data'), start: (path: string) => startChild(script, [path]) }
}

describe('the lock of a data directory', () => {
  it('refuses a second process by the id of the first, and is free at once when that is killed', async () => {
    const { path, start } = await workplace()
    for (let round = 1; round <= 2; round++) {
      const owner = start(path)
      expect(await owner.line()).toBe('opened')
      const refused = `${path}: another sandbox (process ${owner.process.pid}) uses it. Fix: stop that one, or choose another --data-dir.`
      await expect(open(path)).rejects.toThrow(refused)
      const second = start(path)
      expect(await second.line()).toBe(refused)
      expect(await second.line()).toBeUndefined()
      await owner.kill()
      expect(sockets(path)).toHaveLength(1)
    }
    const directory = await open(path)
    await directory.close()
    expect(sockets(path)).toEqual([])
  })

  it('refuses while its owner is stopped and cannot answer', async () => {
    const { path, start } = await workplace()
    const owner = start(path)
    expect(await owner.line()).toBe('opened')
    owner.process.kill('SIGSTOP')
    await expect(open(path)).rejects.toThrow(`${path}: another sandbox uses it. Fix: `)
    await owner.kill()
    await (await open(path)).close()
  })

  it('is taken by one of those who come at once, also when dead ones left their sockets', async () => {
    const { path, start } = await workplace()
    const dead = start(path)
    await dead.line()
    await dead.kill()
    const children = Array.from({ length: 5 }, () => start(path))
    const lines = await Promise.all(children.map((child) => child.line()))
    expect(lines.filter((line) => line === 'opened')).toHaveLength(1)
    expect(lines.filter((line) => line?.includes('uses it'))).toHaveLength(4)
    await Promise.all(children.map((child) => child.kill()))
  })

  it('is taken by one of those who come at once within a process', async () => {
    const path = temporaryDirectory()
    for (let round = 0; round < 20; round++) {
      const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => DirectoryLock.acquire(path)))
      const locks = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
      expect(locks).toHaveLength(1)
      await locks[0]?.release()
      await locks[0]?.release()
    }
    expect(sockets(path)).toEqual([])
  })

  it('is no mere file', async () => {
    const path = temporaryDirectory()
    writeFileSync(join(path, 'lock-copied.sock'), '')
    await (await open(path)).close()
    expect(existsSync(join(path, 'lock-copied.sock'))).toBe(false)
  })

  it('works where the path is too long for a socket', async () => {
    const { path, start } = await workplace()
    const long = join(path, 'a'.repeat(80), 'b'.repeat(80))
    mkdirSync(long, { recursive: true })
    const owner = start(long)
    expect(await owner.line()).toBe('opened')
    expect(sockets(long)).toEqual([])
    await expect(open(long)).rejects.toThrow(`(process ${owner.process.pid}) uses it`)
    await owner.kill()
    const before = readdirSync(tmpdir()).filter((name) => /^yield-sandbox-.*\.sock$/.test(name))
    expect(before).not.toEqual([])
    await (await open(long)).close()
  })
})
