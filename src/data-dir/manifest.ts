import { type Static, Type } from '@sinclair/typebox'
import { Low } from 'lowdb'
import { DocumentFile, FORMAT } from './document-file.ts'
import type { InDirectory } from './entry-file.ts'
import { NEVER, WriteOrder } from './write-order.ts'

/** Its name in its directory. */
export const MANIFEST = 'manifest.json'

const ManifestSchema = Type.Object({
  /** Format of the whole directory. */
  format: Type.Integer(),
  /** Version of the package that wrote it last. */
  version: Type.String(),
  seed: Type.Integer(),
  /** Fingerprint of the fixture from which it was seeded. */
  fixture: Type.String(),
  /** Number of times it was opened. */
  runs: Type.Integer({ minimum: 0 }),
  /** The sandbox clock, in milliseconds: its lead over real time, or the moment since the Unix epoch at which it is frozen. */
  clock: Type.Object({ offset: Type.Number(), frozen_at: Type.Union([Type.Number(), Type.Null()]) }),
  /** True if it has all of the fixture's records. */
  seeded: Type.Boolean(),
  /** True if the last run ended in order and left no damage of a fault. */
  clean: Type.Boolean(),
  /** Names of its journals, by which a missing one is noticed. */
  journals: Type.Array(Type.String()),
  /** As in every file, see {@link WriteOrder}; absent in files of format 3 and older. */
  writes: Type.Optional(Type.Integer({ minimum: 0 })),
  after: Type.Optional(Type.Array(Type.Integer({ minimum: 0 }))),
})

/** Content of the manifest. */
export type ManifestData = Static<typeof ManifestSchema>

/** The manifest's knowledge of its directory. */
type Within = Pick<InDirectory, 'synced' | 'present'>

const ALONE: Within = { synced: false, present: async () => {} }

/** Initial content of a new manifest. */
export interface ManifestStart extends Pick<ManifestData, 'version' | 'seed' | 'fixture'> {
  /** Default 0. */
  runs?: number | undefined
}

/** The small document that describes a data directory. */
export class Manifest {
  /** Order of writes of all files in the directory. */
  readonly order = new WriteOrder(() => [MANIFEST, ...this.#data.journals.map(fileOfJournal)])
  readonly #db: Low<ManifestData>
  readonly #present: () => Promise<void>
  /** Its content at the last write. */
  #data: ManifestData
  #tail: Promise<unknown> = Promise.resolve()

  private constructor(db: Low<ManifestData>, { present }: Within) {
    this.#db = db
    this.#present = present
    this.#data = db.data
    this.order.is(MANIFEST, { ...NEVER, ...db.data })
  }

  /** Reads the manifest; undefined if there is none. Throws DataDirectoryError if it is damaged or of another format. */
  static async open(path: string, within: Within = ALONE): Promise<Manifest | undefined> {
    const file = fileOf(path, within)
    const data = await file.read()
    return data === null ? undefined : new Manifest(new Low(file, data), within)
  }

  /** Reads a manifest without changing its file; undefined if there is none. Throws as {@link open}. */
  static async peek(path: string): Promise<ManifestData | undefined> {
    return (await fileOf(path, ALONE).peek()) ?? undefined
  }

  /** Makes the manifest of a new directory. */
  static async create(path: string, first: ManifestStart, within: Within = ALONE): Promise<Manifest> {
    const data: ManifestData = {
      format: FORMAT,
      ...first,
      runs: first.runs ?? 0,
      clock: { offset: 0, frozen_at: null },
      seeded: false,
      clean: true,
      journals: [],
    }
    const manifest = new Manifest(new Low(fileOf(path, within), data), within)
    await manifest.update({})
    return manifest
  }

  get data(): Readonly<ManifestData> {
    return this.#data
  }

  /** Changes some fields; saved when it resolves. If it rejects, nothing has changed. */
  update(changes: Partial<Omit<ManifestData, 'format' | 'journals' | 'writes' | 'after'>>): Promise<void> {
    return this.#change((data) => ({ ...data, ...changes }))
  }

  /** Call it before writing anything that an older version would misread. */
  async raiseFormat(): Promise<void> {
    if (this.#data.format !== FORMAT) await this.update({})
  }

  /** Registers a journal: from now on it is reported if it is missing. */
  async addJournal(name: string): Promise<void> {
    if (this.#data.journals.includes(name)) return
    return this.#change((data) => ({ ...data, journals: [...data.journals, name] }))
  }

  #change(change: (data: ManifestData) => ManifestData): Promise<void> {
    const done = this.#tail.then(async () => {
      await this.#present()
      const written = this.order.next(MANIFEST)
      this.#db.data = { ...change(this.#data), format: FORMAT, writes: written.writes, after: [...written.after] }
      await this.#db.write().catch(async (error: unknown) => {
        // If only the flush failed, the disk has the new content all the same, and a start would go on from a refused change.
        this.#db.data = this.#data
        await this.#db.write().catch(() => undefined)
        throw error
      })
      this.#data = this.#db.data
      this.order.is(MANIFEST, written)
    })
    this.#tail = done.catch(() => undefined)
    return done
  }
}

/** The name of a journal's file in its directory. */
export function fileOfJournal(name: string): string {
  return `${name}.journal`
}

function fileOf(path: string, { synced }: Within): DocumentFile<typeof ManifestSchema> {
  return new DocumentFile(path, { schema: ManifestSchema, what: 'the manifest of a data directory', synced })
}
