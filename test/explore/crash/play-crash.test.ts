import { describe, expect, test } from 'vitest'
import { playCrash } from '../../../src/explore/crash/play-crash.ts'
import { ENV, NEVER } from '../exploring.ts'
import { WORKER } from './crash-folder.ts'
import { DEPOSIT, deposits, folder, killed, moved, openFolders, sandbox, UNDER_WAY } from './killed-command.ts'

openFolders()

describe('a killed command', () => {
  test('on request: nothing has happened, and nothing does', async () => {
    const seen = await killed({ phase: 'on_request' }, { again: 'ends' })
    expect(deposits(seen)).toMatchObject([{ end: 'abandoned', response: null }])
    expect(moved(seen)).toBe(0)
    expect(seen).toMatchObject({ struck: [true], end: { code: 0, timedOut: false } })
    expect(seen.crash).toMatchObject({ killed: [true], note: 'started again, it asked this sandbox nothing' })
    expect(folder.starts).toHaveLength(2)
  })

  test('done and not answered: the money has moved, and the exchange is let go', async () => {
    const seen = await killed({ phase: 'during_response' })
    const [first, second] = deposits(seen)
    expect(first?.end).toBe('abandoned')
    expect(second).toMatchObject({ end: 'answered', response: { status: 200 }, idempotency: { use: 'replayed' } })
    expect(moved(seen)).toBe(1)
    expect(seen.crash?.note).toBeUndefined()
  })

  test('is not killed where it never comes', async () => {
    const seen = await killed({ phase: 'before_broadcast' }, { again: 'ends' })
    expect(seen.struck).toEqual([true])
    const never = { position: { ...DEPOSIT, ordinal: 2 }, point: UNDER_WAY }
    const env = { ...ENV, ...folder.env }
    const missed = await sandbox.run(
      { command: WORKER, before: undefined, renames: [], env, interruption: NEVER },
      {
        ...{ faults: [], holding: 0, stdio: ['ignore', 'ignore', 'ignore'], timeout: 30_000 },
        play: (stage) => playCrash(stage, [never], { recover: undefined, kill: undefined, restarts: 1 }),
      },
    )
    expect(missed).toMatchObject({ struck: [false], end: { code: 0 } })
  })
})

// The clock stands: nothing but what the test names can let the transfer go. Other ways: play-crash.long.test.ts.
describe('a transfer that is under way is let go when the restarted command', () => {
  test('waits for it', async () => {
    const seen = await killed(UNDER_WAY)
    const [first, second] = deposits(seen)
    expect(first?.end).toBe('abandoned')
    expect(second).toMatchObject({ end: 'answered', response: { status: 200 }, idempotency: { use: 'joined' } })
    expect([moved(seen), seen.end.code]).toEqual([1, 0])
  })
})
