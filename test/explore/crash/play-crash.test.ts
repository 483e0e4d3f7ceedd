import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { SandboxClock } from '../../../src/domain/clock.ts'
import type { KillPoint } from '../../../src/explore/crash/crash-points.ts'
import { playCrash } from '../../../src/explore/crash/play-crash.ts'
import { ExplorationSandbox, type Observation } from '../../../src/explore/run/exploration-sandbox.ts'
import { Stage } from '../../../src/explore/run/play-command.ts'
import { ENV, NEVER } from '../exploring.ts'
import { CrashFolder, WORKER } from './crash-folder.ts'

/** A clock that stands, so that no patience ever ends. */
class Standing extends SandboxClock {
  readonly #moment = super.wallNow()
  override wallNow(): number {
    return this.#moment
  }
}

/** A clock on which every look takes half a second. */
class Running extends SandboxClock {
  #moment = super.wallNow()
  override wallNow(): number {
    this.#moment += 500
    return this.#moment
  }
}

const DEPOSIT = { operation: 'deposit', tenant: null, external_id: 'alice', end_user: 1, ordinal: 1 } as const
const UNDER_WAY: KillPoint = { phase: 'after_broadcast', underWay: true }

let sandbox: ExplorationSandbox
beforeAll(async () => {
  sandbox = await ExplorationSandbox.open({ confirmationDelay: 0, clock: '2026-01-01T00:00:00Z' }, undefined)
})
afterAll(() => sandbox.stop())

let folder: CrashFolder
beforeEach(() => {
  folder = new CrashFolder()
})
afterEach(() => folder[Symbol.dispose]())

interface Wish {
  /** What the worker does in its second start; undefined: the same again. */
  again?: string
  clock?: SandboxClock
}

/** Kills the worker at this point of its deposit, and starts it again. */
async function killed(point: KillPoint, { again, clock = new Standing() }: Wish = {}): Promise<Observation> {
  const env = { ...ENV, ...folder.env, ...(again !== undefined && { AGAIN: again }) }
  const terms = { command: WORKER, before: undefined, renames: [], env, interruption: NEVER }
  const kill = { position: DEPOSIT, point }
  const restarts = { recover: undefined, kill: undefined, restarts: 1 }
  const seen = await sandbox.run(terms, {
    ...{ faults: [], holding: 0, stdio: ['ignore', 'ignore', 'ignore'], timeout: 30_000 },
    play: ({ client, inside, terms, prepare, holding }) =>
      playCrash(new Stage(client, inside, { ...terms, clock }, prepare, holding), [kill], restarts),
  })
  if (!seen) throw new Error('nobody interrupts it')
  return seen
}

const deposits = ({ evidence: { exchanges } }: Observation) =>
  exchanges.filter(({ operation }) => operation === 'deposit')
const moved = ({ evidence: { ledger } }: Observation) =>
  ledger.transfers.filter(({ amount_minor }) => amount_minor === '1000000').length

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

  test('after the answer: the first start has ended its request', async () => {
    const seen = await killed({ phase: 'during_response', afterAnswer: 0 }, { again: 'ends' })
    expect(deposits(seen)).toMatchObject([{ end: 'answered' }])
    expect(moved(seen)).toBe(1)
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

// The clock stands but for the last one: nothing but what the test names can let the transfer go.
describe('a transfer that is under way is let go when the restarted command', () => {
  test('waits for it', async () => {
    const seen = await killed(UNDER_WAY)
    const [first, second] = deposits(seen)
    expect(first?.end).toBe('abandoned')
    expect(second).toMatchObject({ end: 'answered', response: { status: 200 }, idempotency: { use: 'joined' } })
    expect([moved(seen), seen.end.code]).toEqual([1, 0])
  })

  test('has looked, and has not seen it', async () => {
    const seen = await killed(UNDER_WAY, { again: 'looks' })
    const list = seen.evidence.exchanges.find(({ operation }) => operation === 'list_transactions')
    expect(list?.end).toBe('answered')
    expect(list?.response?.body).not.toContain('"1000000"')
    expect([moved(seen), seen.end.code, seen.end.timedOut]).toEqual([1, 0, false])
  })

  test('has ended', async () => {
    const seen = await killed(UNDER_WAY, { again: 'ends' })
    expect(deposits(seen)).toMatchObject([{ end: 'abandoned' }])
    expect([moved(seen), seen.end.code]).toEqual([1, 0])
  })

  test('has asked something else three seconds ago', async () => {
    const seen = await killed(UNDER_WAY, { again: 'asks-otherwise', clock: new Running() })
    expect([moved(seen), seen.end.code, seen.end.timedOut]).toEqual([1, 0, false])
  })
})
