import { existsSync } from 'node:fs'
import { mkdir, readdir, realpath } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { StorageOptions } from '../domain/ports/namespace-registry.ts'
import { changesOfRun, type NamespaceStorage } from '../domain/ports/namespace-storage.ts'
import type { UnparsedJournal } from '../domain/ports/unparsed-journal.ts'
import type { Logger } from '../support/logger.ts'
import { DataDirectoryError, damaged, systemFailure } from './data-directory-error.ts'
import { DirectoryLock } from './directory-lock.ts'
import { EntryFile, type InDirectory } from './entry-file.ts'
import { JournalFile } from './journal-file.ts'
import { fileOfJournal, MANIFEST, Manifest } from './manifest.ts'
import { Presence, probeRoom, removeTemporary, temporaryOf } from './private-file.ts'
import type { Written } from './write-order.ts'

/** File that is written and removed, to find out if there is room. */
const ROOM = 'room'
/** Files of a directory that still counts as empty: the remains of a kill in the first moments, and those of a new volume. */
const NOTHING = new Set([temporaryOf(MANIFEST), 'lost+found'])

/** A directory that keeps a sandbox's state; only this process uses it, from opening to closing. */
export class DataDirectory implements NamespaceStorage {
  /** Its real path. */
  readonly place: string
  readonly manifest: Manifest
  /** Never: the lock lasts as long as the process. */
  readonly lost: AbortSignal = new AbortController().signal
  readonly #within: DirectoryParts['within']
  readonly #lock: DirectoryLock
  readonly #log: Logger
  readonly #journals = new Map<string, Promise<JournalFile<unknown>>>()

  private constructor(parts: DirectoryParts) {
    this.place = parts.path
    this.#within = parts.within
    this.manifest = parts.manifest
    this.#lock = parts.lock
    this.#log = parts.log
  }

  /**
   * Opens a data directory, or makes one where none exists; the other options are the initial content of a new one. Throws
   * DataDirectoryError if the directory cannot be used: not writable, full, in use, damaged, of another format, not a sandbox's. Opening
   * does not change an existing directory.
   */
  static async open(path: string, { log, synced = false, ...first }: StorageOptions): Promise<DataDirectory> {
    const directory = await prepared(resolve(path))
    const lock = await DirectoryLock.acquire(directory)
    try {
      const file = join(directory, MANIFEST)
      const presence = await Presence.of(directory)
      const within = { synced, present: () => presence.check() }
      const manifest = (await Manifest.open(file, within)) ?? (await Manifest.create(file, first, within))
      await checkOrder(directory, manifest)
      await removeTemporary(join(directory, ROOM))
      return new DataDirectory({ path: directory, manifest, within, lock, log })
    } catch (error) {
      await lock.release()
      throw error
    }
  }

  async begin(version: string): Promise<void> {
    await this.manifest.update(changesOfRun(this.manifest.data, version))
  }

  /** Throws DataDirectoryError if the directory, or a journal in it, has been moved or removed. */
  async check(): Promise<void> {
    await this.#within.present()
    for (const opened of [...this.#journals.values()]) {
      const journal = await opened.catch(() => undefined) // the caller of journal() gets the rejection
      await journal?.check()
    }
  }

  /** Throws DataDirectoryError if this number of bytes cannot be written now; leaves nothing behind. */
  async probeRoom(bytes: number): Promise<void> {
    await this.#within.present()
    try {
      await probeRoom(join(this.place, ROOM), bytes)
    } catch (error) {
      throw systemFailure(this.place, error)
    }
  }

  /** The journal of this name, made at the first call. Throws DataDirectoryError if it is damaged. */
  async journal<Entry>(name: string): Promise<UnparsedJournal<Entry>> {
    const opened = this.#journals.get(name) ?? this.#openJournal(name)
    this.#journals.set(name, opened)
    return opened as Promise<UnparsedJournal<unknown>> as Promise<UnparsedJournal<Entry>>
  }

  holds(): boolean {
    return true
  }

  /** Closes the journals once their appends are written, and releases the directory. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#journals.values()].map(async (opened) => (await opened).close()))
    await this.#lock.release()
  }

  async #openJournal(name: string): Promise<JournalFile<unknown>> {
    const file = fileOfJournal(name)
    const path = join(this.place, file)
    if (this.manifest.data.journals.includes(name) && !existsSync(path)) throw damaged(path, 'it is missing')
    const { order } = this.manifest
    const own = {
      ...this.#within,
      next: () => order.next(file),
      is: (written: Written) => order.is(file, written),
    }
    const journal = await JournalFile.open<unknown>(path, own, this.#log)
    await this.manifest.addJournal(name)
    return journal
  }
}

interface DirectoryParts {
  path: string
  manifest: Manifest
  within: Pick<InDirectory, 'synced' | 'present'>
  lock: DirectoryLock
  log: Logger
}

/** Throws DataDirectoryError if whole files are of different moments. A missing file is reported when it is needed. */
async function checkOrder(directory: string, { data, order }: Manifest): Promise<void> {
  for (const name of data.journals) {
    const file = fileOfJournal(name)
    const path = join(directory, file)
    const header = await EntryFile.peek(path).catch((error: unknown) => {
      throw systemFailure(path, error)
    })
    if (header) order.is(file, header)
  }
  order.check(directory)
}

/** Makes the directory if there is none; returns its real path. Throws DataDirectoryError if it holds something else. */
async function prepared(path: string): Promise<string> {
  try {
    await makeDirectory(path)
    const names = await readdir(path)
    const foreign = names.find((name) => !NOTHING.has(name) && !DirectoryLock.owns(name))
    if (foreign !== undefined && !names.includes(MANIFEST)) {
      const what = `it holds other files (${foreign}) and no ${MANIFEST} of a sandbox`
      throw new DataDirectoryError(path, what, 'choose an empty or a new directory as --data-dir')
    }
    return await realpath(path)
  } catch (error) {
    throw systemFailure(path, error)
  }
}

/** As `mkdir -p`. Node's own loops for ever at places where nothing can be made, such as below /proc. */
async function makeDirectory(path: string): Promise<void> {
  const make = () =>
    mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  try {
    await make()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error
    await makeDirectory(dirname(path))
    await make()
  }
}
