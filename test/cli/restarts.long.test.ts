import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClientName, writeClients } from './exec-clients.ts'
import { expectClear } from './expect-clear.ts'
import { runHere } from './in-process.ts'
import { paste } from './paste.ts'

let directory: string
let client: (name: ClientName) => string[]
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-restarts-'))
  client = writeClients(directory)
})
afterAll(() => rm(directory, { recursive: true }))

const ONCE = ['--restarts', '1']
let files = 0
/** Where a client keeps its jobs: a file that is not there yet. */
const jobs = () => ({ JOBS: join(directory, `jobs-${++files}.json`) })

describe('explore --restarts', () => {
  const explore = (flags: readonly string[], name: ClientName) => {
    const own = [
      '--results',
      join(directory, 'results.jsonl'),
      '--jobs',
      '1',
      '--before',
      'rm -f "$JOBS"',
      '--seed',
      '7',
    ]
    const few = ['--only', 'deposit', '--faults', 'reset-after-broadcast']
    return runHere(['explore', ...own, ...few, ...flags, '--', ...client(name)], jobs())
  }

  test('finds a key that is another at each start; the printed command does it again, and --resume asks for it', async () => {
    const { code, stderr } = await explore(ONCE, 'forgetful')
    expect(code).toBe(3)
    expect(stderr).toMatch(/sent again under another key, and was carried out both times/)
    const again = /yield-sandbox explore .*-- .*$/m.exec(stderr)?.[0] ?? ''
    expect(again).toMatch(/ --restarts 1 /)
    expect(await paste(again, jobs())).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/carried out both times/),
    })
    expectClear(await explore(['--resume'], 'forgetful'), { code: 2, line: /--resume: .* is of other flags: / })
  })

  test('starts a command once more that left a transfer open, and judges then', async () => {
    const without = await explore([], 'outbox')
    expect(without.stderr).toMatch(/carried out, and never told/)
    const once = await explore(ONCE, 'outbox')
    expect([without.code, once.code]).toEqual([3, 0])
  })
})

describe('exec --restarts', () => {
  const exec = (flags: readonly string[], name: ClientName, env: Record<string, string> = jobs()) =>
    runHere(['exec', '--scenario', 'dropped-deposit', ...flags, '--', ...client(name)], env)

  test('starts it no more than that, and not at all when nothing is open', async () => {
    const twice = await exec(['--restarts', '3'], 'outbox')
    expect([twice.code, twice.stdout]).toEqual([0, 'later\ndone\n'])
    const right = await exec(['--restarts', '3'], 'right')
    expect([right.code, right.stdout]).toEqual([0, 'deposited 200\n'])
  })

  test('finds a key that is another at each start: paid twice', async () => {
    const env = jobs()
    const { code, stdout, stderr } = await exec([], 'forgetful', env)
    expect([code, stdout]).toEqual([3, 'later\n'])
    expect(stderr).not.toMatch(/carried out both times/)
    const again = await exec(['--verbose'], 'forgetful', { ...jobs(), YIELD_SANDBOX_RESTARTS: '1' })
    expect([again.code, again.stdout]).toEqual([3, 'later\ndone\n'])
    expect(again.stderr).toMatch(/sent again under another key, and was carried out\s+both times/)
    expect(again.stderr).toMatch(/yield-sandbox exec --scenario \S+ --restarts 1 -- /)
  })
})
