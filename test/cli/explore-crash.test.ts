import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CrashFolder, DRIVER, SERVER, WORKER } from '../explore/crash/crash-folder.ts'
import { eventually } from '../helpers/eventually.ts'
import { ExploreFolder } from './explore-folder.ts'

let results: ExploreFolder
let folder: CrashFolder
beforeEach(async () => {
  results = await ExploreFolder.make()
  folder = new CrashFolder()
})
afterEach(async () => {
  folder[Symbol.dispose]()
  await results[Symbol.asyncDispose]()
})

/** One kill, at the deposit. */
const ONCE = ['--no-join', '--crash', '--only', 'deposit', '--faults', 'killed-on-request']
const READY = ['--ready', 'http://127.0.0.1:$YIELD_APP_PORT/health']

function explore(flags: readonly string[], command: readonly string[] = WORKER, env: Record<string, string> = {}) {
  return results.explore(flags, command, { ...folder.env, ...env })
}

/** The sentences with which it ends, without its progress. */
const said = ({ stderr }: { stderr: string }) => {
  const lines = stderr.split('\n').filter((line) => /^yield-sandbox: (?!runs|not among|\d)/.test(line))
  return lines.join('\n')
}

const [NODE = '', FILE = ''] = WORKER
/** The worker as a daemon: a process group of its own, which its parent only waits for. */
const DAEMON = ['sh', '-c', `setsid ${NODE} ${FILE} & wait $!`]
const KILL_DAEMON = 'kill -9 $(cat $STATE_DIR/$YIELD_CLIENT_ID.pid)'

describe('explore --crash says in one sentence why it cannot, and leaves nothing running', () => {
  test.each<[string, readonly string[], Record<string, string>, RegExp]>([
    [
      'a command that does new work in each start',
      [],
      { EVERY_START: '1' },
      /and the command once more: it moved money once more\. .*give --recover/,
    ],
    [
      '--recover that does new work',
      ['--recover', WORKER.join(' ')],
      { EVERY_START: '1' },
      /and --recover once more: it moved money once more/,
    ],
    [
      '--recover that is not there',
      ['--recover', 'no-such-worker'],
      {},
      /--recover ended with code 127 .*does not find it: check its name/,
    ],
    [
      '--recover that never ends',
      ['--recover', 'sleep 60', '--timeout', '6s'],
      {},
      /--recover was not done after 6 s: it must end by itself/,
    ],
  ])('%s', async (_, flags, env, sentence) => {
    const ended = await explore([...ONCE, ...flags], WORKER, env)
    expect(said(ended)).toMatch(sentence)
    expect(said(ended)).not.toContain('\n')
    expect([ended.code, ended.exploration]).toEqual([4, undefined])
    folder.expectNothingLeft()
  })

  test.each([
    [[], /your command was killed, and the process that sent the request lives: .*Give --kill <command>/],
    [['--kill', 'exit 3'], /your command was killed, also by --kill \(it ended with code 3\), and/],
  ] as const)('a process that has left the group, with %j', async (flags, sentence) => {
    const ended = await explore([...ONCE, ...flags], DAEMON)
    expect(said(ended)).toMatch(sentence)
    expect(ended.code).toBe(4)
    // It belongs to itself: it ends when its request does.
    await eventually(() => folder.expectNothingLeft())
  })

  test('a --trial of a kill that does not exist', async () => {
    const ended = await explore(['--no-join', '--trial', 'deposit#1@alice killed-after-broadcast'])
    expect(said(ended)).toMatch(/--trial "deposit#1@alice killed-after-broadcast": .* use one of killed-under-way, /)
    expect(ended.code).toBe(2)
  })
})

describe('explore --crash', () => {
  test('kills a process that has left the group by --kill', async () => {
    const { code, exploration } = await explore(
      [
        '--no-join',
        '--crash',
        '--only',
        'deposit',
        '--faults',
        'killed-on-request,killed-under-way',
        '--kill',
        KILL_DAEMON,
      ],
      DAEMON,
    )
    expect(exploration?.results.map(({ outcome }) => outcome)).toEqual(['survived', 'survived'])
    expect(code).toBe(0)
    folder.expectNothingLeft()
  })

  test('says that a lock file of the killed one stops the restart', async () => {
    const { code, exploration } = await explore(ONCE, WORKER, { LOCK: '1' })
    expect(exploration?.results).toMatchObject([{ outcome: 'gave_up_safely', level: 'warning', end: '75' }])
    const text = exploration?.results[0]?.sentences.join('\n')
    expect(text).toMatch(/needs help .*ended with code 75 \(it refused to start, 3 times: .*lock file/)
    expect(code).toBe(0)
    // Twice without a kill and once more, then once and three times.
    expect(folder.starts).toHaveLength(3 + 4)
  })

  test('says that --recover has asked nothing', async () => {
    const { code, exploration } = await explore([...ONCE, '--recover', 'true'])
    expect(exploration?.results).toMatchObject([{ outcome: 'left_undone', level: 'critical' }])
    expect(exploration?.results[0]?.sentences.join('\n')).toMatch(
      /asked this sandbox nothing\): it has left that undone/,
    )
    expect(code).toBe(3)
  })
})

describe('explore --crash --app', () => {
  const app = (flags: readonly string[], env: Record<string, string> = {}) =>
    explore([...ONCE, '--timeout', '60s', '--app', SERVER, ...flags], DRIVER, env)

  test('kills the server, starts it again, and never the command', async () => {
    const faults = 'killed-on-request,killed-under-way,killed-unanswered'
    const { code, exploration } = await app([...READY, '--faults', faults])
    expect(exploration?.results.map(({ outcome }) => outcome)).toEqual(['survived', 'survived', 'survived'])
    expect(code).toBe(0)
    // Server and command in each run; the server once more for the condition, and after each kill.
    expect(folder.starts).toHaveLength(2 + 3 + 3 * 3)
    folder.expectNothingLeft()
  })

  test('finds a key per start, and a run is over when --until says so', async () => {
    const until = 'grep -q done $STATE_DIR/$YIELD_CLIENT_ID.json'
    const { code, exploration } = await app([...READY, '--faults', 'killed-under-way', '--until', until], {
      MISTAKE: 'key-per-start',
    })
    expect(exploration?.results).toMatchObject([{ outcome: 'paid_twice', level: 'critical', end: '0' }])
    expect(code).toBe(3)
  })

  test('a command that sees its request fail and gives up does not hide what the server left open', async () => {
    const { exploration } = await app([...READY, '--faults', 'killed-under-way'], { MISTAKE: 'forgets', FRAIL: '1' })
    expect(exploration?.results).toMatchObject([{ outcome: 'left_open', level: 'review', end: '1' }])
  })

  test.each<[string, readonly string[], Record<string, string>, RegExp]>([
    [
      'ends at once',
      ['--app', 'echo no such table >&2; exit 3', ...READY],
      {},
      /the server ended with code 3 before it was ready\. It has printed: no such table/,
    ],
    [
      'is never ready',
      ['--ready', 'false', '--timeout', '3s'],
      {},
      /not ready after 3 s: --ready "false" must end with 0, and --timeout/,
    ],
    [
      'does new work in each start',
      READY,
      { MISTAKE: 'new-work' },
      /the server killed and started once more: it moved money once more\. It must go on/,
    ],
    [
      'asks for ever',
      [...READY, '--timeout', '6s'],
      { MISTAKE: 'never-rests' },
      /not at rest 6 s after the command's end: it still asked .*Give --until/,
    ],
    [
      'is never done',
      [...READY, '--until', 'false', '--timeout', '6s'],
      {},
      /not at rest 6 s after the command's end: --until "false" has not ended with 0/,
    ],
  ])('says in one sentence that the server %s, and leaves nothing running', async (_, flags, env, sentence) => {
    const ended = await app(flags, env)
    expect(said(ended)).toMatch(sentence)
    expect([ended.code, ended.exploration]).toEqual([4, undefined])
    folder.expectNothingLeft()
  })

  test('a command that cannot be started leaves no server', async () => {
    const command = ['no-such-command']
    const ended = await explore([...ONCE, '--app', SERVER, ...READY], command)
    expect(said(ended)).toMatch(/is not a command on this machine/)
    expect([ended.code, folder.starts.length]).toEqual([2, 1])
    folder.expectNothingLeft()
  })

  test('says that another process has the port, or answers in its place', async () => {
    const other = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
    await once(other, 'listening')
    try {
      const { port } = other.address() as AddressInfo
      const taken = await app(READY, { PORT: String(port) })
      expect(said(taken)).toMatch(
        /another process has its port \(EADDRINUSE\): let the server listen on the port in YIELD_APP_PORT/,
      )
      const answering = await app(['--ready', `http://127.0.0.1:${port}/`])
      expect(said(answering)).toMatch(/answers before the server is started, so another one has its port: .*--jobs 1/)
      expect([taken.code, answering.code]).toEqual([4, 4])
    } finally {
      other.close()
    }
    folder.expectNothingLeft()
  })
})
