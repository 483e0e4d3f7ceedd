import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClientName, writeClients } from './exec-clients.ts'
import { expectClear } from './expect-clear.ts'
import { runHere } from './in-process.ts'

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

describe('exec --restarts', () => {
  const exec = (flags: readonly string[], name: ClientName, env: Record<string, string> = jobs()) =>
    runHere(['exec', '--scenario', 'dropped-deposit', ...flags, '--', ...client(name)], env)

  test('without it, a job that is left for later has moved money that nobody was told of', async () => {
    const { code, stdout, stderr } = await exec([], 'outbox')
    expect([code, stdout]).toEqual([3, 'later\n'])
    expect(stderr).toMatch(/ended well without being told/)
    expect(stderr).toMatch(/--restarts 1/)
  })

  test('starts the command once more where it left something open, and judges then', async () => {
    const { code, stdout, stderr } = await exec(ONCE, 'outbox')
    expect([code, stdout]).toEqual([0, 'later\ndone\n'])
    expect(stderr).toMatch(/^Passed: /m)
  })
})

// Another key at each start, and explore --restarts: restarts.long.test.ts.
test.each(['exec', 'explore', 'certify'])('%s refuses what is no number of restarts', async (name) => {
  const refused = (count: string) => runHere([name, '--restarts', count, '--', 'true'])
  expectClear(await refused('4'), { code: 2, line: /--restarts.* must be at most 3/ })
  expectClear(await refused('x'), { code: 2, line: /--restarts.* must be a whole number/ })
})
