import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testSandbox } from '../helpers/partner.ts'
import type { Ended } from './command.ts'
import { type ClientName, writeClients } from './exec-clients.ts'
import { runHere } from './in-process.ts'

let directory: string
let client: (name: ClientName) => string[]
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-misused-'))
  client = writeClients(directory)
})
afterAll(() => rm(directory, { recursive: true }))

const exec = (flags: readonly string[], command: readonly string[], env?: Record<string, string>): Promise<Ended> =>
  runHere(['exec', ...flags, '--', ...command], env)

/** What is said on the terminal, without its line breaks. */
const said = ({ stderr }: Pick<Ended, 'stderr'>) => stderr.replaceAll(/\s+/g, ' ')

describe('one sentence is said, and the verdict is not "passed", of a command that', () => {
  const DROP = ['--fault', 'drop_connection; operation=deposit']
  const OTHER_NAME = ['-e', 'fetch(process.env.API_URL ?? "http://127.0.0.1:9").catch(() => undefined)']

  test.each<[string, readonly string[], () => readonly string[], number, string]>([
    [
      'is killed in the middle of its work',
      [],
      () => ['sh', '-c', '"$@"; kill -KILL $$', 'sh', ...client('pools')],
      137,
      'sh was killed by SIGKILL: what it would have done next is not known.',
    ],
    [
      'ends before the fault strikes',
      DROP,
      () => client('pools'),
      4,
      'node ended before a request came that it fits, or took the fault away.',
    ],
    ['fails and asks nothing', [], () => ['false'], 1, 'false ended with code 1 and sent the sandbox no request.'],
    [
      'reads other variables',
      ['--allow-inconclusive'],
      () => [process.execPath, ...OTHER_NAME],
      4,
      'sent this sandbox no request, which exec gives it in YIELD_BASE_URL: if your app reads another variable, name it with --env THEIR_NAME=YIELD_BASE_URL.',
    ],
    [
      'works in a namespace of its own',
      [],
      () => client('namespace'),
      4,
      'made a namespace of its own, and requests there are not judged: let it use YIELD_BASE_URL and the credentials that exec gives it.',
    ],
    [
      'leaves transfers under way, signed or waiting for their turn',
      ['--confirmation-delay', '1h', '--verbose'],
      () => client('hasty'),
      4,
      '2 transfers were still under way ten seconds after your command ended: nothing is known of them yet.',
    ],
    [
      'fails before it begins',
      ['--before', 'exit 5'],
      () => client('right'),
      5,
      '--before failed: the command ended with code 5.',
    ],
  ])('%s', async (_, flags, command, code, sentence) => {
    const ended = await exec(flags, command())
    expect(said(ended)).toContain(sentence)
    expect(said(ended)).toContain('Inconclusive: ')
    expect(ended.code).toBe(code)
  })

  test('talks to another sandbox', async () => {
    const other = await testSandbox()
    try {
      const env = { OTHER: other.baseUrl, YIELD_SANDBOX_URL: other.baseUrl }
      const ended = await exec([], client('elsewhere'), env)
      expect(said(ended)).toContain(
        `sent this sandbox no request, and YIELD_SANDBOX_URL in your environment names another one, ${other.baseUrl}: let your app take the address from YIELD_BASE_URL, which exec sets.`,
      )
      expect([ended.code, ended.stdout]).toEqual([4, '200\n'])
    } finally {
      await other.stop()
    }
  })
})

test('several tenants are judged each by itself, and named', async () => {
  const ended = await exec([], client('tenants'))
  expect(said(ended)).toMatch(/used 2 tenants, each judged by itself: acme, globex/)
  expect([ended.code, ended.stdout]).toEqual([0, '200 200\n'])
})
