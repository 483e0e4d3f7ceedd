import { createHash } from 'node:crypto'
import { DataDirectory } from '../data-dir/data-directory.ts'
import type { ClockPosition, SandboxClock } from '../domain/clock.ts'
import type { Journal } from '../domain/ports/journal.ts'
import type { UnparsedJournal } from '../domain/ports/unparsed-journal.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import { OptionError } from '../option-error.ts'
import type { Logger } from '../support/logger.ts'
import { SeededRandom } from '../support/random.ts'
import { version } from '../version.ts'

/** Milliseconds of real time between two looks at the directory. */
const LOOK_MS = 1_000
/** More than a fixture of usual size takes, with the state that each of two chains begins with. */
const SEEDING_BYTES = 4 * 2 ** 20

/** What a sandbox with a data directory goes on from, and keeps as it goes. */
export class Persistence {
  /**
   * Opens the directory; `seed` is what the start asks for. Throws DataDirectoryError when it cannot be used, OptionError
   * when it was made with another seed or fixture.
   */
  static async open(path: string, fixture: Fixture, { seed, runs = 0, fsync, log }: OpenOptions): Promise<Persistence> {
    const made = { version, seed: seed ?? SeededRandom.freshSeed(), fixture: fingerprint(fixture), runs }
    const directory = await DataDirectory.open(path, { ...made, synced: fsync, log })
    const { seed: kept, fixture: seededFrom } = directory.manifest.data
    const problem =
      seed !== undefined && seed !== kept
        ? `it was made with seed ${kept}, not ${seed}. Fix: leave --seed out, or start with another --data-dir`
        : seededFrom !== made.fixture &&
          'it was made from a fixture file with other tenants, pools or chains. Fix: start with that file, or with another --data-dir'
    if (!problem) return new Persistence(directory)
    await directory.close()
    throw new OptionError(`${directory.path}: ${problem}.`)
  }

  readonly seed: number
  /** Counts the starts over this state, from 0. */
  readonly run: number
  /** Where the clock stood; undefined for a new state. */
  readonly clock: ClockPosition | undefined
  /** True if an earlier run did not end in order, or left repairs of faults undone. See `Repairs`. */
  readonly mayOweRepairs: boolean
  readonly #directory: DataDirectory
  #followed: SandboxClock | undefined
  /** The last state of the clock that was to be kept; it may not be on disk yet. */
  #lastClock: ClockPosition
  #clockKept: Promise<void> = Promise.resolve()
  #clockUnkept = false
  #whole = false
  #obstacle: string | undefined
  readonly #closed = new AbortController()

  private constructor(directory: DataDirectory) {
    const { seed, runs, seeded, clean, clock } = directory.manifest.data
    this.seed = seed
    this.run = runs
    this.clock = seeded ? clock : undefined
    this.mayOweRepairs = seeded && !clean
    this.#lastClock = clock
    this.#directory = directory
  }

  /** The directory's path. */
  get path(): string {
    return this.#directory.path
  }

  /** Why nothing can be kept at present, a sentence; undefined when nobody knows of a reason. */
  get obstacle(): string | undefined {
    return this.#obstacle
  }

  /** Looks now and then whether the directory is still where it was, and says in the log when that changes. */
  async watch(clock: SandboxClock, log: Logger): Promise<void> {
    const { signal } = this.#closed
    for (;;) {
      await clock.wallSleep(LOOK_MS, signal)
      if (signal.aborted) return
      const before = this.#obstacle
      this.#obstacle = await this.check().then(
        () => undefined,
        (error: Error) => error.message,
      )
      if (signal.aborted || this.#obstacle === before) continue
      if (this.#obstacle === undefined) log.info({ path: this.path }, 'the data directory is back where it was')
      else log.error({ path: this.path }, this.#obstacle)
    }
  }

  /** Throws DataDirectoryError when the directory is no longer where it was. */
  check(): Promise<void> {
    return this.#directory.check()
  }

  /** Call when everything that is kept was found sound, before it is changed. */
  begin(): Promise<void> {
    return this.#directory.begin(version)
  }

  /** True if all that the fixture asks for is there. */
  get seeded(): boolean {
    return this.#directory.manifest.data.seeded
  }

  journal = <Entry>(name: string): Promise<Journal<Entry>> => this.#directory.journal<Entry>(name)

  /** The journal of what happens in business time: no entry is kept before the move of the clock that it follows. */
  async timedJournal<Entry>(name: string): Promise<UnparsedJournal<Entry>> {
    const journal = await this.#directory.journal<Entry>(name)
    return {
      read: () => journal.read(),
      readUnparsed: () => journal.readUnparsed(),
      append: async (entry) => {
        await this.clockKept()
        await journal.append(entry)
      },
      rewrite: async (entries) => {
        await this.#directory.manifest.raiseFormat()
        await journal.rewrite(entries)
      },
      get size() {
        return journal.size
      },
      close: () => journal.close(),
    }
  }

  /** Keeps every move of the clock. */
  follow(clock: SandboxClock, log: Logger): void {
    this.#followed = clock
    clock.onMove(() => {
      this.keepClock(clock.state).catch((error: unknown) =>
        log.error({ err: error }, 'a move of the clock was not kept'),
      )
    })
  }

  /** Keeps where the clock is about to stand. Throws DataDirectoryError when that cannot be kept. */
  keepClock(state: ClockPosition): Promise<void> {
    const { offset, frozen_at } = this.#lastClock
    if (!this.#clockUnkept && offset === state.offset && frozen_at === state.frozen_at) return this.#clockKept
    return this.#keep({ clock: state })
  }

  /** Resolves when every move of the clock so far is kept. One that could not be is tried again. Throws DataDirectoryError. */
  clockKept(): Promise<void> {
    return this.#clockUnkept && this.#followed ? this.keepClock(this.#followed.state) : this.#clockKept
  }

  /** From now on, until it is {@link whole}, a start begins anew. When it rejects, as when there is no room for that, nothing has changed. */
  async beginSeeding(): Promise<void> {
    await this.#directory.probeRoom(SEEDING_BYTES)
    await this.#directory.manifest.update({ seeded: false })
    this.#whole = false
  }

  /** Call when all that the fixture asks for is there, and the repairs of an earlier run are done. */
  async whole(clock: SandboxClock): Promise<void> {
    if (!this.seeded) await this.#keep({ clock: clock.state, seeded: true })
    this.#whole = true
  }

  #keep(changes: { clock: ClockPosition; seeded?: true }): Promise<void> {
    this.#lastClock = changes.clock
    const kept = this.#directory.manifest.update(changes)
    this.#clockKept = kept
    this.#clockUnkept = false
    kept.catch(() => {
      this.#clockUnkept ||= this.#clockKept === kept
    })
    return kept
  }

  /** Releases the directory lock. `repaired` is false when a fault's repair is left to the next run. */
  async close(repaired = true): Promise<void> {
    this.#closed.abort()
    await this.clockKept().catch(() => undefined) // the next run goes on from what is kept
    try {
      if (this.#whole && repaired) await this.#directory.manifest.update({ clean: true })
    } finally {
      await this.#directory.close()
    }
  }
}

/** How a data directory is opened. */
export interface OpenOptions {
  /** What is asked for; undefined for any. */
  seed: number | undefined
  /** How often the state had been started that a new directory begins with. */
  runs?: number | undefined
  /** True if what is acknowledged outlives a power cut. */
  fsync: boolean
  log: Logger
}

/** Of what is in the ledger and on the chains from the start: it must be the same at every start. */
function fingerprint({ tenants, chains, settings }: Fixture): string {
  const made = chains.map(({ chain_id, price_oracle, fork }) => ({
    chain_id,
    price_oracle,
    forked: fork !== undefined,
  }))
  const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)
  const text = JSON.stringify({ tenants, chains: made, protocols: settings.protocols }, plain)
  return createHash('sha256').update(text).digest('base64url')
}
