import { crc32 } from 'node:zlib'
import { NotOwnerError } from '../domain/ports/journal.ts'
import type { ManifestData } from '../domain/ports/namespace-storage.ts'
import { breathe } from '../support/breathe.ts'
import { abortController } from '../support/waiting.ts'
import { type Database, FIRST_PAUSE_MS, LONGEST_PAUSE_MS, type Row } from './database.ts'
import { DatabaseError, databaseFailure, isRefusal } from './database-error.ts'

/** Milliseconds that entries without hurry wait for others to be stored with: a commit of their own would hold up whoever comes next. */
const PATIENCE_MS = 50
/** Bytes of a row and of all rows of a commit that no further entry joins. A longer entry has a row of its own. */
const [ROW_BYTES, COMMIT_BYTES] = [2 ** 20, 4 * 2 ** 20]

/** Ownership of a namespace, as it was taken. */
export interface Ownership {
  /** The namespace's name. */
  name: string
  /** Id of this process. */
  owner: string
  /** Number of times that the namespace changed hands. */
  epoch: number
}

/** How far a journal goes. It is stored with each commit, so that a missing, an altered and a foreign row is noticed. */
export interface Extent {
  /** The generation in force: a rewritten journal is a new generation. */
  generation: number
  /** Number of the last row; 0 for none. */
  seq: number
  /** Checksum of the last row, which goes on from that of the row before: of {@link firstCrc} for the first one. */
  crc: number
  /** Bytes of all rows. */
  bytes: number
}

/** A generation of a journal that is written, in force or not. */
export interface WrittenJournal {
  readonly name: string
  /** As far as it is stored. */
  extent: Extent
  /** True for the generation in force: its extent is stored with the namespace. */
  inForce: boolean
  /** True if its entries may wait for those of other journals. */
  unhurried?: boolean | undefined
}

/** Work that waits for the next commit. */
type Work = { settle: (error?: Error) => void } & (
  | { journal: WrittenJournal; json: Buffer; ahead: boolean }
  | { flip: WrittenJournal; to: WrittenJournal }
  | { manifest: (data: ManifestData) => ManifestData; enter?: WrittenJournal }
)

interface NewRow {
  journal: WrittenJournal
  generation: number
  crc: number
  bytes: Buffer
}

/** All that one statement stores. It does not change from one attempt to the next. */
interface Commit {
  works: Work[]
  rows: NewRow[]
  /** By journal: how far each goes when it is stored. */
  extents: Map<WrittenJournal, Extent>
  manifest: ManifestData | undefined
  /** Head that it leaves. */
  head: number
}

/** The extent of a generation that has no row yet. */
export function emptyExtent(name: string, generation: number): Extent {
  return { generation, seq: 0, crc: crc32(`${name} ${generation}`), bytes: 0 }
}

/**
 * The only writer of a namespace: entries of all its journals and its manifest are stored in the order of the calls, one commit at a time.
 * All that waits meanwhile shares the next one. Each commit is fenced: it is stored only while owner, epoch and head are what this process
 * believes. When it is not known if a commit was stored, as after a cut connection, the three are read again, as often as it takes.
 */
export class NamespaceWriter {
  readonly ownership: Ownership
  readonly #database: Database
  readonly #lost = abortController()
  readonly #ended = abortController()
  #manifest: ManifestData
  #head: number
  #waiting: Work[] = []
  /** What the commit under way stores. */
  #underWay: Work[] = []
  #writing: Promise<void> | undefined
  /** Aborts when something comes that is not to wait. */
  #hurry = abortController()

  constructor(database: Database, ownership: Ownership, { head, manifest }: { head: number; manifest: ManifestData }) {
    this.#database = database
    this.ownership = ownership
    this.#head = head
    this.#manifest = manifest
  }

  /** For messages. */
  get place(): string {
    return `${this.#database.place}, namespace ${this.ownership.name}`
  }

  /** The manifest as it is stored. */
  get manifest(): ManifestData {
    return this.#manifest
  }

  /** Number of rows and other changes of the namespace that are stored, as far as this process knows. */
  get head(): number {
    return this.#head
  }

  /** Aborts when this process is not the owner any more, with a NotOwnerError. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** Aborts when it writes nothing more: lost or closed. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  /** With `ahead`, it waits for an entry that does not, to be stored with it; if it is refused, the namespace is lost. */
  append(journal: WrittenJournal, json: Buffer, ahead = false): Promise<void> {
    return this.#enqueue((settle) => ({ journal, json, ahead, settle }))
  }

  /** Puts another generation of a journal in force. */
  flip(journal: WrittenJournal, to: WrittenJournal): Promise<void> {
    return this.#enqueue((settle) => ({ flip: journal, to, settle }))
  }

  /** Changes the manifest, and with it enters a new journal. */
  change(manifest: (data: ManifestData) => ManifestData, enter?: WrittenJournal): Promise<void> {
    return this.#enqueue((settle) => ({ manifest, settle, ...(enter && { enter }) }))
  }

  /** Resolves when nothing waits and nothing is written. Never rejects. */
  async idle(): Promise<void> {
    while (this.#writing) await this.#writing
  }

  /** Call it when the namespace is lost for another reason than a refused commit. Only the first reason counts. */
  lose(reason: string): void {
    const error = new NotOwnerError(`${this.place}: ${reason}`)
    if (this.ended.aborted) return
    this.#end(error)
    this.#lost.abort(error)
  }

  /** Writes nothing more, whatever waits. */
  close(): void {
    this.#end(new NotOwnerError(`${this.place}: it was closed`))
  }

  #end(error: NotOwnerError): void {
    this.#hurry.abort()
    this.#ended.abort(error)
    // The commit under way may take long to fail, and whether it is stored does not matter here any more.
    for (const { settle } of [...this.#underWay, ...this.#waiting.splice(0)]) settle(error)
  }

  /**
   * Compares owner, epoch and head in the database with what this process knew before they were read. A row that is missing is lost as well:
   * none is ever deleted.
   * @returns true if this process still owns the namespace and nothing acknowledged is missing. Otherwise it is lost.
   */
  verify(found: Row | undefined, headBefore: number): boolean {
    const { owner, epoch } = this.ownership
    const missing = headBefore - Number(found?.head)
    if (!found) this.#loseTail('this namespace')
    // Whoever owns it by now: no head is ever lower than one before.
    else if (missing > 0)
      this.#loseTail(`the last ${missing === 1 ? 'commit' : `${missing} commits`} of this namespace`)
    else if (found.deleted || found.owner !== owner || Number(found.epoch) !== epoch) this.lose(ANOTHER_OWNER)
    return !this.ended.aborted
  }

  #enqueue(work: (settle: Work['settle']) => Work): Promise<void> {
    if (this.ended.aborted) return Promise.reject(this.ended.reason)
    return new Promise((resolve, reject) => {
      const added = work((error) => (error ? reject(error) : resolve()))
      this.#waiting.push(added)
      if (!isUnhurried(added)) this.#hurry.abort()
      this.#writing ??= this.#writeAll()
    })
  }

  async #writeAll(): Promise<void> {
    await breathe() // entries of the same turn share a commit
    while (this.#waiting.length > 0) {
      if (this.#waiting.every(isUnhurried)) {
        this.#hurry = abortController()
        await this.#database.clock.wallSleep(PATIENCE_MS, this.#hurry.signal)
        await breathe()
        if (this.#waiting.length === 0) break // it was closed meanwhile
      }
      const commit = this.#next()
      this.#underWay = commit.works
      const failure = await this.#store(commit)
      if (!failure) this.#adopt(commit)
      for (const { settle } of commit.works) settle(failure)
      this.#underWay = []
    }
    this.#writing = undefined // at once: who is answered now may write again
  }

  /** Takes as much of what waits as one commit holds. */
  #next(): Commit {
    const extents = new Map<WrittenJournal, Extent>()
    const extentOf = (journal: WrittenJournal) => extents.get(journal) ?? journal.extent
    const rows: NewRow[] = []
    const open = new Map<WrittenJournal, { lines: Buffer[]; size: number }>()
    let manifest: ManifestData | undefined
    let total = 0
    const closeRow = (journal: WrittenJournal) => {
      const row = open.get(journal)
      if (!row) return
      open.delete(journal)
      const before = extentOf(journal)
      const bytes = joined(row.lines)
      const crc = crc32(bytes, before.crc)
      rows.push({ journal, generation: before.generation, crc, bytes })
      extents.set(journal, { ...before, crc, seq: this.#head + rows.length, bytes: before.bytes + bytes.length })
    }
    let count = 0
    for (const work of this.#waiting) {
      if (total >= COMMIT_BYTES) break
      count += 1
      if ('manifest' in work) {
        manifest = work.manifest(manifest ?? this.#manifest)
        if (work.enter) extents.set(work.enter, extentOf(work.enter))
      } else if ('flip' in work) {
        for (const journal of [work.flip, work.to]) closeRow(journal)
        extents.set(work.flip, extentOf(work.to))
      } else {
        const row = open.get(work.journal) ?? { lines: [], size: 0 }
        open.set(work.journal, row)
        row.lines.push(work.json)
        row.size += work.json.length
        total += work.json.length
        if (row.size >= ROW_BYTES) closeRow(work.journal)
      }
    }
    for (const journal of [...open.keys()]) closeRow(journal)
    const works = this.#waiting.splice(0, count)
    return { works, rows, extents, manifest, head: this.#head + Math.max(rows.length, 1) }
  }

  #adopt({ extents, manifest, head }: Commit): void {
    for (const [journal, extent] of extents) journal.extent = extent
    this.#manifest = manifest ?? this.#manifest
    this.#head = head
  }

  /** Stores the commit. Returns the reason why it is certain that it is not and never will be stored, or that this process is not the owner. */
  async #store(commit: Commit): Promise<Error | undefined> {
    let pause = FIRST_PAUSE_MS
    for (let attempt = 1; !this.ended.aborted; attempt++) {
      let failure: unknown
      try {
        if ((await this.#send(commit)).length === 1) return undefined
      } catch (error) {
        failure = error
      }
      if (failure !== undefined && isRefusal(failure)) {
        const refused = databaseFailure(this.place, failure)
        // The first attempt may still be stored, and what followed an entry that is refused may not be stored without it.
        if (attempt > 1) this.lose(`a repeated commit was refused: ${refused.message}`)
        else if (commit.works.some(isAhead)) this.lose(`an entry that others follow was refused: ${refused.message}`)
        else return refused
        break
      }
      const stored = await this.#isStored(commit)
      if (stored) return undefined
      await this.#database.clock.wallSleep(pause, this.ended)
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS)
    }
    return this.ended.reason
  }

  #send({ rows, extents, manifest, head }: Commit): Promise<Row[]> {
    const { name, owner, epoch } = this.ownership
    const changed = [...extents].filter(([{ inForce }]) => inForce).map(([journal, extent]) => [journal.name, extent])
    const fence = [name, owner, epoch, this.#head, head - this.#head, JSON.stringify(Object.fromEntries(changed))]
    const values = rows.flatMap(({ journal, generation, crc, bytes }) => [journal.name, generation, crc, bytes])
    const text = this.#database.statements.commit(rows.length)
    return this.#database.query(text, [...fence, manifest ? JSON.stringify(manifest) : null, ...values], {
      stores: true,
    })
  }

  /**
   * Finds out what became of a commit that was not answered, or had no row. No row is no proof of another owner: an earlier attempt, whose
   * connection was cut, may have been stored in the meantime.
   * @returns true if it is stored, false if it is to be sent once more, or if the namespace is lost
   */
  async #isStored({ head }: Commit): Promise<boolean> {
    const { standing } = this.#database.statements
    const [found] = await this.#database.insist(standing, [[this.ownership.name]], this.ended)
    if (this.ended.aborted || !this.verify(found, this.#head)) return false
    if (Number(found?.head) === head) return true
    if (Number(found?.head) > this.#head) this.lose('others write in the name of this process')
    return false
  }

  /** As after a failover to a standby that lagged behind, or when a backup was restored. */
  #loseTail(what: string): void {
    const lost = `the database has lost ${what}, which it had acknowledged`
    const fix = 'see what your clients know of it, and make the standby synchronous so that a failover loses nothing'
    const { message } = new DatabaseError(this.place, `${lost}; what it still has is loaded again`, fix)
    this.#database.log.error({ namespace: this.ownership.name }, message)
    this.lose(lost)
  }
}

function isUnhurried(work: Work): boolean {
  return isAhead(work) || ('journal' in work && work.journal.unhurried === true)
}

function isAhead(work: Work): boolean {
  return 'journal' in work && work.ahead
}

const ANOTHER_OWNER = 'another process has taken the namespace, or it was deleted'

const LINE_FEED = Buffer.from('\n')

/** JSON has no line feed: entries of one row stand on lines. */
function joined(lines: readonly Buffer[]): Buffer {
  const [only] = lines
  if (lines.length === 1 && only) return only
  return Buffer.concat(lines.flatMap((line, i) => (i === 0 ? [line] : [LINE_FEED, line])))
}
