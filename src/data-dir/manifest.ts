import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { DataDirectoryError } from './data-directory-error.ts'
import { damaged } from './journal-format.ts'
import { openPrivate, replacePrivate } from './private-file.ts'
import { systemFailure } from './system-failure.ts'

/** Since format 3, the ledger's journal may hold segments of packed records; since 4, folders of namespaces are called by their lives. */
const FORMAT = 4
/** The oldest that is read; the first change raises it. */
const OLDEST_FORMAT = 2

const ManifestSchema = Type.Object({
  /** Format of the whole directory: raised when an older version would misread any of its files. */
  format: Type.Integer({ minimum: OLDEST_FORMAT, maximum: FORMAT }),
  /** Version of the package that wrote it last. */
  version: Type.String(),
  seed: Type.Integer(),
  /** Fingerprint of the fixture it was seeded from. */
  fixture: Type.String(),
  /** How often it was opened. */
  runs: Type.Integer({ minimum: 0 }),
  /** The sandbox clock, in milliseconds: how far it is ahead, or the moment since the Unix epoch where it stands still. */
  clock: Type.Object({ offset: Type.Number(), frozen_at: Type.Union([Type.Number(), Type.Null()]) }),
  /** True if the fixture's records are all in it. */
  seeded: Type.Boolean(),
  /** True if the last run ended in order, with nothing left that a fault had broken. */
  clean: Type.Boolean(),
  /** Names of its journals: one that has gone since is missed. */
  journals: Type.Array(Type.String()),
})

/** What a data directory says of itself. */
export type ManifestData = Static<typeof ManifestSchema>

/** What a new data directory begins with. */
export interface ManifestStart extends Pick<ManifestData, 'version' | 'seed' | 'fixture'> {
  /** Default 0. */
  runs?: number | undefined
}

/** The small file that says what a data directory is. It is replaced as a whole: killed at any moment, it is old or new. */
export class Manifest {
  readonly #path: string
  #data: ManifestData
  #tail: Promise<unknown> = Promise.resolve()

  private constructor(path: string, data: ManifestData) {
    this.#path = path
    this.#data = data
  }

  /** Reads the manifest; undefined when there is none. Throws DataDirectoryError when it is damaged or of another format. */
  static async open(path: string): Promise<Manifest | undefined> {
    try {
      const handle = await openPrivate(path)
      const text = await handle?.readFile('utf8').finally(() => handle.close())
      return text === undefined ? undefined : new Manifest(path, checked(path, JSON.parse(text)))
    } catch (error) {
      throw error instanceof SyntaxError ? damaged(path, 'it is not JSON') : systemFailure(path, error)
    }
  }

  /** Makes the manifest of a new directory. */
  static async create(path: string, first: ManifestStart): Promise<Manifest> {
    const data = {
      format: FORMAT,
      ...first,
      runs: first.runs ?? 0,
      clock: { offset: 0, frozen_at: null },
      seeded: false,
      clean: true,
      journals: [],
    }
    const manifest = new Manifest(path, data as ManifestData)
    await manifest.update({})
    return manifest
  }

  get data(): Readonly<ManifestData> {
    return this.#data
  }

  /** Changes some of it; kept when it resolves. When it rejects, nothing has changed. */
  update(changes: Partial<Omit<ManifestData, 'format' | 'journals'>>): Promise<void> {
    return this.#change((data) => ({ ...data, ...changes }))
  }

  /** Call before anything is written that an older version would misread. */
  async raiseFormat(): Promise<void> {
    if (this.#data.format !== FORMAT) await this.update({})
  }

  /** From now on, the journal of this name is missed when it is gone. */
  async addJournal(name: string): Promise<void> {
    if (this.#data.journals.includes(name)) return
    return this.#change((data) => ({ ...data, journals: [...data.journals, name] }))
  }

  #change(change: (data: ManifestData) => ManifestData): Promise<void> {
    const done = this.#tail.then(async () => {
      const data: ManifestData = { ...change(this.#data), format: FORMAT }
      try {
        const handle = await replacePrivate(this.#path, (handle) =>
          handle.writeFile(JSON.stringify(data, undefined, 2)),
        )
        await handle.close()
      } catch (error) {
        throw systemFailure(this.#path, error)
      }
      this.#data = data
    })
    this.#tail = done.catch(() => undefined)
    return done
  }
}

function checked(path: string, data: unknown): ManifestData {
  const format = (data as Partial<ManifestData> | null)?.format
  if (typeof format === 'number' && Number.isInteger(format) && (format < OLDEST_FORMAT || format > FORMAT)) {
    const what = `it is of format ${format} (written by version ${(data as ManifestData).version}), and this version reads formats ${OLDEST_FORMAT} to ${FORMAT}`
    throw new DataDirectoryError(path, what, 'start the version that wrote it, or start with another --data-dir')
  }
  if (Value.Check(ManifestSchema, data)) return data
  const first = Value.Errors(ManifestSchema, data).First()
  throw damaged(path, `it is not the manifest of a data directory (${first?.path || 'as a whole'}: ${first?.message})`)
}
