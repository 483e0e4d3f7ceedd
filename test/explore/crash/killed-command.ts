import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
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
export class Running extends SandboxClock {
  #moment = super.wallNow()
  override wallNow(): number {
    this.#moment += 500
    return this.#moment
  }
}

export const DEPOSIT = { operation: 'deposit', tenant: null, external_id: 'alice', end_user: 1, ordinal: 1 } as const
export const UNDER_WAY: KillPoint = { phase: 'after_broadcast', underWay: true }

export let sandbox: ExplorationSandbox
export let folder: CrashFolder

/** Opens the sandbox of a file, and a folder for each of its tests. */
export function openFolders(): void {
  beforeAll(async () => {
    sandbox = await ExplorationSandbox.open({ confirmationDelay: 0, clock: '2026-01-01T00:00:00Z' }, undefined)
  })
  afterAll(() => sandbox.stop())
  beforeEach(() => {
    folder = new CrashFolder()
  })
  afterEach(() => folder[Symbol.dispose]())
}

interface Wish {
  /** What the worker does in its second start; undefined: the same again. */
  again?: string
  clock?: SandboxClock
}

/** Kills the worker at this point of its deposit, and starts it again. */
export async function killed(point: KillPoint, { again, clock = new Standing() }: Wish = {}): Promise<Observation> {
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

export const deposits = ({ evidence: { exchanges } }: Observation) =>
  exchanges.filter(({ operation }) => operation === 'deposit')
export const moved = ({ evidence: { ledger } }: Observation) =>
  ledger.transfers.filter(({ amount_minor }) => amount_minor === '1000000').length
