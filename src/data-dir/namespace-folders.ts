import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Low } from 'lowdb'
import { SeededRandom } from '../support/random.ts'
import { damaged, systemFailure } from './data-directory-error.ts'
import { DocumentFile, FORMAT } from './document-file.ts'
import { syncDirectory } from './private-file.ts'

const FOLDER = 'namespaces'
const FILE = 'namespace.json'

/** Characters of the part of a life that is unique: 72 bits. */
const ID_LENGTH = 12
/** Most characters of a name to which a number is appended. */
const LONGEST_STEM = 57

const KeptNamespaceSchema = Type.Object({
  /** This and the next two are absent in files of format 3 and older. */
  format: Type.Optional(Type.Integer()),
  /** Version of the package that wrote it. */
  version: Type.Optional(Type.String()),
  /** If it is absent, the life is the name alone. */
  life: Type.Optional(Type.String()),
  /** ISO 8601 UTC, wall-clock time. */
  created_at: Type.String(),
  seed: Type.Integer(),
  /** Milliseconds since the Unix epoch; null for real time. */
  clock_start: Type.Union([Type.Number(), Type.Null()]),
  /** Milliseconds. */
  confirmation_delay: Type.Object({ min: Type.Number(), max: Type.Number() }),
  /** By tenant id. */
  clients: Type.Record(
    Type.String(),
    Type.Object({
      slug: Type.String(),
      client_id: Type.String(),
      client_secret: Type.String(),
      /** The key that the sandbox made for a tenant of a snapshot, PKCS#8 PEM. */
      private_key_pem: Type.Optional(Type.String()),
      kid: Type.Optional(Type.String()),
    }),
  ),
  /** Differences of its fixture from the sandbox's; null for none. */
  fixtures: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
})

/** Data of a namespace that is known before its data directory is opened. */
export type KeptNamespace = Omit<Static<typeof KeptNamespaceSchema>, 'format' | 'life'>

/** A stored namespace, or the reason why it cannot be opened. */
export type FoundNamespace = Found & ({ kept: KeptNamespace } | { failure: Error })

interface Found {
  name: string
  life: string
}

/** Makes a new life: it begins with the name and distinguishes the namespace from every other that has, had or will have that name. */
export function newLife(name: string): string {
  return `${name}.${SeededRandom.secret().slice(0, ID_LENGTH)}`
}

/**
 * The folders of namespaces in a data directory, named after their lives: each is a data directory of its own with a small file that
 * describes the namespace. The file is written last and removed first; a folder without it is the remains of a kill and is removed.
 */
export class NamespaceFolders {
  readonly #path: string

  constructor(dataDir: string) {
    this.#path = join(dataDir, FOLDER)
  }

  /** The data directory of a namespace. */
  of(life: string): string {
    return join(this.#path, life)
  }

  /** The stored namespaces, damaged ones included, by name. Removes the remains of others as far as possible. */
  async list(): Promise<FoundNamespace[]> {
    const names = await readdir(this.#path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw systemFailure(this.#path, error)
    })
    const found = await Promise.all(names.sort().map((life) => this.#find(life)))
    return oneOfEachName(found.flatMap((one) => one ?? []))
  }

  /** The lives that have a folder, damaged ones included. */
  async lives(): Promise<string[]> {
    return (await readdir(this.#path).catch(() => [])).sort()
  }

  /** Reads the data of a namespace without changing its file; null for mere remains. Throws DataDirectoryError if it is damaged. */
  async peek(life: string): Promise<KeptNamespace | null> {
    const found = await this.#fileOf(life).peek()
    if (found === null) return null
    const { format: _, life: __, ...kept } = found
    return kept
  }

  /** Stores a namespace. If it rejects, the namespace is not stored. */
  async keep(life: string, kept: KeptNamespace): Promise<void> {
    await new Low(this.#fileOf(life), { format: FORMAT, life, ...kept }).write()
  }

  /** Ends the storage of a namespace; {@link remove}, or the next start, removes its remains. */
  async forget(life: string): Promise<void> {
    const path = this.#pathOf(life)
    try {
      await rm(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
      throw systemFailure(path, error)
    }
    // No process finds it from here on. A failed flush must not deny that, since only a power cut could undo it.
    await syncDirectory(dirname(path)).catch(() => undefined)
  }

  /** Removes all files of a namespace. */
  async remove(life: string): Promise<void> {
    await this.forget(life)
    try {
      await rm(this.of(life), { recursive: true, force: true })
    } catch (error) {
      throw systemFailure(this.of(life), error)
    }
  }

  async #find(life: string): Promise<FoundNamespace | undefined> {
    const [name = life] = life.split('.')
    try {
      const kept = await this.#fileOf(life).read()
      if (!kept) return void (await this.remove(life).catch(() => undefined))
      const own = kept.life ?? name
      if (own !== life) throw damaged(this.#pathOf(life), `it is that of another folder (${own})`)
      return { name, life, kept }
    } catch (error) {
      return { name, life, failure: error instanceof Error ? error : new Error(String(error)) }
    }
  }

  #pathOf(life: string): string {
    return join(this.of(life), FILE)
  }

  #fileOf(life: string): DocumentFile<typeof KeptNamespaceSchema> {
    return keptFile(this.of(life))
  }
}

/** The file in the data directory of a namespace that describes it. That of the default one has it only if it began with a snapshot. */
function keptFile(directory: string): DocumentFile<typeof KeptNamespaceSchema> {
  const path = join(directory, FILE)
  return new DocumentFile(path, { schema: KeptNamespaceSchema, what: 'the file of a namespace', synced: true })
}

/** Data of the default namespace in its directory, unchanged; null if it has none. Throws DataDirectoryError if it is damaged. */
export async function peekDefault(directory: string): Promise<KeptNamespace | null> {
  return existsSync(join(directory, FILE)) ? keptFile(directory).peek() : null
}

/** Describes the default namespace in its directory. Throws DataDirectoryError if that cannot be written. */
export async function keepDefault(directory: string, kept: KeptNamespace): Promise<void> {
  await keptFile(directory).write({ format: FORMAT, ...kept })
}

/** A name belongs to one life. If several share one, as only manual copies can, the others get a number and are refused. */
function oneOfEachName(found: readonly FoundNamespace[]): FoundNamespace[] {
  const lives = new Map<string, string>()
  const [whole, damaged] = [found.filter((one) => 'kept' in one), found.filter((one) => 'failure' in one)]
  for (const { name, life } of [...whole, ...damaged]) if (!lives.has(name)) lives.set(name, life)
  return found.map((one) => {
    const other = lives.get(one.name)
    if (other === one.life) return one
    const failure = new Error(`The folder ${other} holds a namespace "${one.name}" as well as ${one.life}.`)
    const name = freeName(one.name.slice(0, LONGEST_STEM), lives)
    lives.set(name, one.life)
    return { name, life: one.life, failure: 'failure' in one ? one.failure : failure }
  })
}

function freeName(stem: string, taken: ReadonlyMap<string, unknown>): string {
  let number = 2
  while (taken.has(`${stem}-${number}`)) number++
  return `${stem}-${number}`
}
