import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { CodeCache } from '../../src/code-cache.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-code-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  write('build-id', 'one\n')
  write(
    'a.js',
    "const { sep } = require('node:path')\nconst b = require('./b.js')\nexports.say = () => [b.word(), sep, __filename].join()",
  )
  write('b.js', "const a = require('./a.js')\nexports.word = () => typeof a.say")
})

const write = (name: string, text: string | Buffer) => writeFileSync(join(folder, name), text)
const caches = () => readdirSync(folder).filter((name) => name.endsWith('.cache'))
const cachePath = () => join(folder, caches()[0] ?? 'there is none')

/** What a start makes of the bundle, and whether the file of the cache was written by it. */
function start(): { said: string; kept: boolean } {
  const before = caches().map((name) => statSync(join(folder, name)).ino)
  const cache = new CodeCache(folder)
  const { say } = cache.load('a.js') as { say(): string }
  const said = say()
  cache.keep()
  const after = caches().map((name) => statSync(join(folder, name)).ino)
  return { said, kept: JSON.stringify(before) !== JSON.stringify(after) }
}

describe('the bundle is loaded by code that was compiled before', () => {
  test('files require each other, packages and Node, and are the same in every start', () => {
    const said = `function,/,${join(folder, 'a.js')}`
    expect(start()).toEqual({ said, kept: true })
    expect(start()).toEqual({ said, kept: false })
  })

  test('what a later command needs besides is added', () => {
    start()
    write('c.js', "exports.c = 'see'")
    const cache = new CodeCache(folder)
    expect(cache.load('c.js')).toEqual({ c: 'see' })
    cache.keep()
    expect(start().kept).toBe(false)
    expect(caches()).toHaveLength(1)
  })

  test('a mistake is reported at the line of its file', () => {
    write('wrong.js', "exports.fail = () => {\n  throw new Error('on line two')\n}")
    const { fail } = new CodeCache(folder).load('wrong.js') as { fail(): void }
    const error = (() => {
      try {
        fail()
      } catch (error) {
        return error as Error
      }
    })()
    expect(error?.stack).toContain(`${join(folder, 'wrong.js')}:2:`)
  })

  test('a damaged file is not taken, and made anew', () => {
    const { said } = start()
    const whole = readFileSync(cachePath())
    for (const at of [0, 5, 9, 40, whole.length >> 1, whole.length - 1]) {
      const damaged = Buffer.from(whole)
      damaged[at]! ^= 1
      write(caches()[0]!, damaged)
      expect(start()).toEqual({ said, kept: true })
    }
    write(caches()[0]!, whole.subarray(0, whole.length - 9))
    expect(start()).toEqual({ said, kept: true })
    write(caches()[0]!, '')
    expect(start()).toEqual({ said, kept: true })
  })

  test.skipIf(process.platform === 'win32')('a file that others may write is not taken, nor is a link', () => {
    start()
    chmodSync(cachePath(), 0o666)
    expect(start().kept).toBe(true)
    expect(statSync(cachePath()).mode & 0o777).toBe(0o644)
    const path = cachePath()
    write('elsewhere', readFileSync(path))
    rmSync(path)
    symlinkSync(join(folder, 'elsewhere'), path)
    const planted = statSync(join(folder, 'elsewhere'))
    expect(start().kept).toBe(true)
    expect(statSync(join(folder, 'elsewhere')).mtimeMs).toBe(planted.mtimeMs)
  })

  test('another build has a file of its own, and a folder that no build made has none', () => {
    start()
    write('build-id', 'two\n')
    expect(start().kept).toBe(true)
    expect(caches()).toHaveLength(2)
    for (const name of [...caches(), 'build-id']) rmSync(join(folder, name))
    expect(start().kept).toBe(false)
  })
})
