import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ExploreFolder } from './explore-folder.ts'
import { sandboxOfFolder } from './sandbox-of-folder.ts'

let folder: ExploreFolder
beforeEach(async () => {
  folder = await ExploreFolder.make()
})
afterEach(() => folder[Symbol.asyncDispose]())

const within = sandboxOfFolder()
// All begin at one moment, and so with copies of one namespace.
const explore = (flags: readonly string[], command?: readonly string[]) =>
  folder.explore(flags, command, { ...within(), YIELD_SANDBOX_CLOCK: '2026-12-24T18:00:00Z' })

const NODE = process.execPath

// What it finds: explore-results.test.ts, and of the reference client explore.long.test.ts.
describe('explore says in one sentence why it cannot', () => {
  const sentence = (stderr: string) => stderr.split('\n').filter((line) => /^yield-sandbox: (?!runs)/.test(line))

  test.each([
    ['fails already', ['sh', '-c', 'exit 7'], 7, /ended with code 7 without any fault/],
    ['asks nothing', ['true'], 4, /asked this sandbox nothing: .*YIELD_BASE_URL/],
    ['never ends', ['sleep', '60'], 1, /was not done after 1 s without any fault/],
    ['is not there', ['no-such-command'], 2, /is not a command on this machine/],
    ['wants a terminal', ['sh', '-c', 'read answer < /dev/tty'], 2, /has no terminal and no standard input/],
  ] as const)('a command that %s', async (_, command, code, words) => {
    const ended = await explore(['--timeout', '1s'], command)
    expect(sentence(ended.stderr).join('\n')).toMatch(words)
    expect(ended.exploration).toBeUndefined()
    expect(ended.code === code || (command[0] === 'sh' && ended.code !== 0)).toBe(true)
  })

  test('a command that talks to somebody else', async () => {
    const other = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1')
    try {
      await new Promise((resolve) => other.once('listening', resolve))
      const { port } = other.address() as AddressInfo
      const ended = await explore(
        [],
        [NODE, '-e', `await fetch('http://127.0.0.1:${port}/v1/partner/pools')`, '--input-type=module'],
      )
      expect(ended).toMatchObject({ code: 4, stderr: expect.stringMatching(/asked this sandbox nothing/) })
    } finally {
      other.close()
    }
  })

  test('--before that fails', async () => {
    const ended = await explore(['--before', 'exit 3'])
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringMatching(/--before failed: .*code 3/) })
  })
})
