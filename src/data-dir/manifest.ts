import { type Static, Type } from '@sinclair/typebox'
import { Low } from 'lowdb'
import type { ManifestData, NamespaceManifest, StorageStart } from '../domain/ports/namespace-storage.ts'
import { DocumentFile, FORMAT } from './document-file.ts'
import type { InDirectory } from './entry-file.ts'
import { NEVER, WriteOrder } from './write-order.ts'

/** Its name in its directory. */
export const MANIFEST = 'manifest.json'

/** {@link ManifestData} in a file. */
const ManifestSchema = Type.Object({
  format: Type.Integer(),
  version: Type.String(),
  seed: Type.Integer(),
  fixture: Type.String(),
  runs: Type.Integer({ minimum: 0 }),
  clock: Type.Object({ offset: Type.Number(), frozen_at: Type.Union([Type.Number(), Type.Null()]) }),
  seeded: Type.Boolean(),
  clean: Type.Boolean(),
  unharmed: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])),
  journals: Type.Array(Type.String()),
  /** As in every file, see {@link WriteOrder}; absent in files of format 3 and older. */
  writes: Type.Optional(Type.Integer({ minimum: 0 })),
  after: Type.Optional(Type.Array(Type.Integer({ minimum: 0 }))),
})

/** Content of the manifest's file. */
export type ManifestContent = Static<typeof ManifestSchema> & ManifestData

/** The manifest's knowledge of its directory. */
type Within = Pick<InDirectory, 'synced' | 'present'>

const ALONE: Within = { synced: false, present: async () => {} }

/** The small document that describes a data directory. */
export class Manifest implements NamespaceManifest {
  /** Order of writes of all files in the directory. */
  readonly order = new WriteOrder(() => [MANIFEST, ...this.#data.journals.map(fileOfJournal)])
  readonly #db: Low<ManifestContent>
  readonly #present: () => Promise<void>
  /** Its content at the last write. */
  #data: ManifestContent
  #tail: Promise<unknown> = Promise.resolve()

  private constructor(db: Low<ManifestContent>, { present }: Within) {
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
  static async peek(path: string): Promise<ManifestContent | undefined> {
    return (await fileOf(path, ALONE).peek()) ?? undefined
  }

  /** Makes the manifest of a new directory. */
  static async create(path: string, first: StorageStart, within: Within = ALONE): Promise<Manifest> {
    const data: ManifestContent = {
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

  get data(): Readonly<ManifestContent> {
    return this.#data
  }

  update(changes: Partial<ManifestData>): Promise<void> {
    return this.#change((data) => ({ ...data, ...changes }))
  }

  async raiseFormat(): Promise<void> {
    if (this.#data.format !== FORMAT) await this.update({})
  }

  /** Registers a journal: from now on it is reported if it is missing. */
  async addJournal(name: string): Promise<void> {
    if (this.#data.journals.includes(name)) return
    return this.#change((data) => ({ ...data, journals: [...data.journals, name] }))
  }

  #change(change: (data: ManifestContent) => ManifestContent): Promise<void> {
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
