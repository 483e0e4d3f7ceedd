import { describe, expect, test } from 'vitest'
import { WORKER } from '../explore/crash/crash-folder.ts'
import { eventually } from '../helpers/eventually.ts'
import { CrashExplored, ONCE, said } from './crash-explored.ts'

const crash = new CrashExplored()
const explore = (...terms: Parameters<CrashExplored['explore']>) => crash.explore(...terms)

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
      /the command was started once more: it moved money once more\. .*give --recover/,
    ],
    [
      '--recover that does new work',
      ['--recover', WORKER.join(' ')],
      { EVERY_START: '1' },
      /--recover was started once more: it moved money once more\. It must go on/,
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
    crash.folder.expectNothingLeft()
  })

  test.each([
    [[], /your command was killed, and the process that sent the request lives: .*Give --kill <command>/],
    [['--kill', 'exit 3'], /your command was killed, also by --kill \(it ended with code 3\), and/],
  ] as const)('a process that has left the group, with %j', async (flags, sentence) => {
    const ended = await explore([...ONCE, ...flags], DAEMON)
    expect(said(ended)).toMatch(sentence)
    expect(ended.code).toBe(4)
    // It belongs to itself: it ends when its request does.
    await eventually(() => crash.folder.expectNothingLeft())
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
    crash.folder.expectNothingLeft()
  })

  test('says that a lock file of the killed one stops the restart', async () => {
    const { code, exploration } = await explore(ONCE, WORKER, { LOCK: '1' })
    expect(exploration?.results).toMatchObject([{ outcome: 'gave_up_safely', level: 'warning', end: '75' }])
    const text = exploration?.results[0]?.sentences.join('\n')
    expect(text).toMatch(/needs help .*ended with code 75 \(it refused to start, 3 times: .*lock file/)
    expect(code).toBe(0)
    // Twice without a kill and once more, then once and three times.
    expect(crash.folder.starts).toHaveLength(3 + 4)
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
