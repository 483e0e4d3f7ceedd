import { describe, expect, test } from 'vitest'
import { CrashExplored, READY, said } from './crash-explored.ts'

const crash = new CrashExplored()

describe('explore --crash --app', () => {
  test('kills the server wherever it is, starts it again, and never the command', () =>
    crash.expectSurvived(['killed-on-request', 'killed-under-way', 'killed-unanswered']))

  test('finds a key per start, and a run is over when --until says so', async () => {
    const until = 'grep -q done $STATE_DIR/$YIELD_CLIENT_ID.json'
    const { code, exploration } = await crash.exploreApp([...READY, '--faults', 'killed-under-way', '--until', until], {
      MISTAKE: 'key-per-start',
    })
    expect(exploration?.results).toMatchObject([{ outcome: 'paid_twice', level: 'critical', end: '0' }])
    expect(code).toBe(3)
  })

  test('a command that sees its request fail and gives up does not hide what the server left open', async () => {
    const { exploration } = await crash.exploreApp([...READY, '--faults', 'killed-under-way'], {
      MISTAKE: 'forgets',
      FRAIL: '1',
    })
    expect(exploration?.results).toMatchObject([{ outcome: 'left_open', level: 'review', end: '1' }])
  })

  test('says that a server refuses to start, where a lock file of the killed one is in its way', async () => {
    const { exploration } = await crash.exploreApp([...READY], { MISTAKE: 'lock', FRAIL: '1' })
    expect(exploration?.results).toMatchObject([{ outcome: 'gave_up_safely', level: 'warning', end: '1' }])
    const text = exploration?.results[0]?.sentences.join('\n')
    expect(text).toMatch(/the server refused to start when it was started again, 3 times \(it ended with code 75\)/)
    crash.folder.expectNothingLeft()
  })

  test.each<[string, readonly string[], Record<string, string>, RegExp]>([
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
    const ended = await crash.exploreApp(flags, env)
    expect(said(ended)).toMatch(sentence)
    expect([ended.code, ended.exploration]).toEqual([4, undefined])
    crash.folder.expectNothingLeft()
  })
})
