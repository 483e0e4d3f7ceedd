import { createHash } from 'node:crypto'
import type { ClockPosition, SandboxClock } from '../domain/clock.ts'
import type { Journal } from '../domain/ports/journal.ts'
import type { NamespaceRegistry, SharedBase } from '../domain/ports/namespace-registry.ts'
import { isUnharmed, type JournalWish, type NamespaceStorage } from '../domain/ports/namespace-storage.ts'
import type { UnparsedJournal } from '../domain/ports/unparsed-journal.ts'
import type { Fixture } from '../fixtures/fixture.ts'
import { OptionError } from '../option-error.ts'
import type { Logger } from '../support/logger.ts'
import { SeededRandom } from '../support/random.ts'
import { version } from '../version.ts'

/** Milliseconds of real time between two checks of the storage. */
const LOOK_MS = 1_000
/** Milliseconds by which business time may lead over what is saved: another process takes longer to open the state. */
const LEAD_MS = 100
/** More than a fixture of usual size takes, with the initial state of two chains. */
const SEEDING_BYTES = 4 * 2 ** 20

/** The stored state of a namespace, and the means to update it. */
export class Persistence {
  /**
   * Opens the storage of a namespace; `seed` is the one that the start asks for. Throws the registry's error if it cannot be used, OptionError
   * if it was made with another seed or fixture.
   */
  static async open(
    registry: Pick<NamespaceRegistry, 'open' | 'flag'>,
    { life, fixture, seed, runs = 0, fresh = false, fsync, log }: OpenOptions,
  ): Promise<Persistence> {
    const made = { version, seed: seed ?? SeededRandom.freshSeed(), fixture: fingerprint(fixture), runs }
    const storage = await registry.open(life, { ...made, synced: fsync, log })
    const problem =
      fresh && storage.manifest.data.seeded
        ? `it holds a state already, and --snapshot begins with another one. Fix: leave --snapshot out, or name an empty or new ${registry.flag}`
        : otherBeginning(storage.manifest.data, { seed, fixture: made.fixture }, registry.flag)
    if (!problem) return new Persistence(storage)
    await storage.close()
    throw new OptionError(`${storage.place}: ${problem}.`)
  }

  readonly seed: number
  /** Number of earlier starts with this state. */
  readonly run: number
  /** Position of the clock at the last save; undefined for a new state. */
  readonly clock: ClockPosition | undefined
  /** True unless an earlier run did not end in order, or left repairs of faults undone. */
  readonly closedInOrder: boolean
  /** True if an earlier run may have left something broken on the chains. See `Repairs`. */
  readonly mayOweRepairs: boolean
  /** True if an earlier run left all records of the fixture. */
  readonly seededBefore: boolean
  readonly storage: NamespaceStorage
  #followed: SandboxClock | undefined
  /** The latest position of the clock to be saved; it may not be saved yet. */
  #lastClock: ClockPosition
  #clockKept: Promise<void> = Promise.resolve()
  #clockUnkept = false
  /** Set once it is saved that something may be broken. */
  #broken: Promise<void> | undefined
  #whole = false
  #obstacle: string | undefined
  readonly #closed = new AbortController()

  private constructor(storage: NamespaceStorage) {
    const { seed, runs, seeded, clean, clock } = storage.manifest.data
    this.seed = seed
    this.run = runs
    this.clock = seeded ? clock : undefined
    this.closedInOrder = !seeded || clean
    this.mayOweRepairs = !isUnharmed(storage.manifest.data)
    this.seededBefore = seeded
    this.#lastClock = clock
    this.storage = storage
  }

  /** For messages: the place of the storage. */
  get place(): string {
    return this.storage.place
  }

  /** Reason why nothing can be saved at present, a sentence; undefined if none is known. */
  get obstacle(): string | undefined {
    return this.#obstacle
  }

  /**
   * @returns true if another process had it, whose record of requests is gone: one that has not ended in order, or any where processes of
   * a fleet replace each other
   */
  wasOthers({ database, fleet }: { database: boolean; fleet: boolean }): boolean {
    return database && (!this.closedInOrder || (fleet && this.seededBefore))
  }

  /** Checks regularly that the storage is still in its place, and logs when that changes. Saves what the machine's own clock moved. */
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
      if (signal.aborted) return
      this.#keepLead()
      if (this.#obstacle === before) continue
      if (this.#obstacle === undefined) log.info({ place: this.place }, 'the stored state is back where it was')
      else log.error({ place: this.place }, this.#obstacle)
    }
  }

  /** Rejects if the storage is no longer where it was. */
  check(): Promise<void> {
    return this.storage.check()
  }

  /** Call it when all stored data was found sound, before any of it is changed. */
  begin(): Promise<void> {
    return this.storage.begin(version)
  }

  /** True if all records of the fixture exist. */
  get seeded(): boolean {
    return this.storage.manifest.data.seeded
  }

  journal = <Entry>(name: string, wish?: JournalWish): Promise<Journal<Entry>> =>
    this.storage.journal<Entry>(name, wish)

  /** A journal of events in business time: no entry is written before the move of the clock that it follows. */
  async timedJournal<Entry>(name: string): Promise<UnparsedJournal<Entry>> {
    const journal = await this.storage.journal<Entry>(name)
    return {
      read: () => journal.read(),
      readUnparsed: () => journal.readUnparsed(),
      append: async (entry) => {
        await this.clockKept()
        await journal.append(entry)
      },
      rewrite: async (entries) => {
        await this.storage.manifest.raiseFormat()
        await journal.rewrite(entries)
      },
      get size() {
        return journal.size
      },
      close: () => journal.close(),
    }
  }

  /** Saves every move of the clock. */
  follow(clock: SandboxClock, log: Logger): void {
    this.#followed = clock
    clock.onMove(() => {
      this.keepClock(clock.state).catch((error: unknown) =>
        log.error({ err: error }, 'a move of the clock was not kept'),
      )
    })
  }

  /** Saves the position to which the clock is about to move. Rejects if that fails. */
  keepClock(state: ClockPosition): Promise<void> {
    const { offset, frozen_at } = this.#lastClock
    if (!this.#clockUnkept && offset === state.offset && frozen_at === state.frozen_at) return this.#clockKept
    return this.#keep({ clock: state })
  }

  /** Resolves when every move of the clock so far is saved; a failed save is tried again. Rejects if that fails too. */
  clockKept(): Promise<void> {
    return this.#clockUnkept && this.#followed ? this.keepClock(this.#followed.state) : this.#clockKept
  }

  /** From now on, until {@link whole}, a start begins anew. If it rejects, as when there is too little room, nothing has changed. */
  async beginSeeding(): Promise<void> {
    await this.storage.probeRoom(SEEDING_BYTES)
    await this.storage.manifest.update({ seeded: false })
    this.#whole = false
  }

  /** Call before a fault breaks something of a chain: unless this run ends in order, the next one repairs it. Rejects if that cannot be saved. */
  mayBreak(): Promise<void> {
    this.#broken ??= this.storage.manifest.update({ unharmed: null }).catch((error: unknown) => {
      this.#broken = undefined
      throw error
    })
    return this.#broken
  }

  /** Call when all that the fixture asks for is there, and the repairs of an earlier run are done. */
  async whole(clock: SandboxClock): Promise<void> {
    const { data } = this.storage.manifest
    if (!this.seeded) await this.#keep({ clock: clock.state, seeded: true })
    else if (!isUnharmed(data)) await this.storage.manifest.update({ unharmed: data.runs })
    this.#whole = true
  }

  /**
   * Saves the lead of business time if it has grown by itself, as when the machine's clock was set: on another machine, or after a restart,
   * business time must not be behind what was answered.
   */
  #keepLead(): void {
    const clock = this.#followed
    if (!clock || clock.frozen || !this.#whole || !this.takesWrites) return
    clock.now() // which notices that the machine's clock was set back
    const { state } = clock
    const { offset, frozen_at } = this.#lastClock
    const isMoving = frozen_at !== null || offset > state.offset
    const saved = this.storage.manifest.data.clock
    if (!isMoving && state.offset - saved.offset > LEAD_MS) void this.#keep({ clock: state })
  }

  #keep(changes: { clock: ClockPosition; seeded?: true }): Promise<void> {
    this.#lastClock = changes.clock
    const kept = this.storage.manifest.update(changes)
    this.#clockKept = kept
    this.#clockUnkept = false
    kept.catch(() => {
      this.#clockUnkept ||= this.#clockKept === kept
    })
    return kept
  }

  /** @returns false if it is another process's, or does not answer: writes would be refused, or wait */
  get takesWrites(): boolean {
    return !this.storage.lost.aborted && this.storage.awaySince === undefined
  }

  /** Lets others have the storage, without writing anything; the next run finds that this one did not end in order. */
  async abandon(): Promise<void> {
    this.#closed.abort()
    await this.storage.close()
  }

  /** Lets others have the storage. `repaired` is false when a fault's repair is left to the next run. */
  async close(repaired = true): Promise<void> {
    this.#closed.abort()
    try {
      this.#keepLead()
      await this.clockKept().catch(() => undefined) // the next run goes on from the last saved position
      if (this.#whole && repaired) await this.storage.manifest.update({ clean: true })
    } finally {
      await this.storage.close()
    }
  }
}

/** Why a start with this seed and this fixture cannot go on from a stored state, without a full stop; undefined if it can. */
export function otherBeginning(
  stored: SharedBase,
  wanted: { seed: number | undefined; fixture: string },
  flag: string,
): string | undefined {
  const other = `another ${flag}`
  if (wanted.seed !== undefined && wanted.seed !== stored.seed)
    return `it was made with seed ${stored.seed}, not ${wanted.seed}. Fix: leave --seed out, or start with ${other}`
  if (wanted.fixture === stored.fixture) return undefined
  return `it was made from a fixture file with other tenants, pools or chains. Fix: name that file in --fixtures, or start with ${other}`
}

/** Options of opening the storage of a namespace. */
export interface OpenOptions {
  /** The namespace; undefined for the default one. */
  life: string | undefined
  fixture: Fixture
  /** Seed to require; undefined for any. */
  seed: number | undefined
  /** Number of earlier starts of the state that a new storage begins with. */
  runs?: number | undefined
  /** True if a storage with a state must be refused: the sandbox begins with a snapshot. */
  fresh?: boolean
  /** True if acknowledged writes must outlive a power cut. */
  fsync: boolean
  log: Logger
}

/** Fingerprint of the parts of a fixture that set the initial ledger and chains; it must be the same at every start. */
export function fingerprint({ tenants, chains, settings }: Fixture): string {
  const made = chains.map(({ chain_id, price_oracle, fork }) => ({
    chain_id,
    price_oracle,
    forked: fork !== undefined,
  }))
  const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)
  const text = JSON.stringify({ tenants, chains: made, protocols: settings.protocols }, plain)
  return createHash('sha256').update(text).digest('base64url')
}
