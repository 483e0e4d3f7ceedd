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

/** Characters of an id that no other life has: 72 bits. */
const ID_LENGTH = 12
/** Characters of a name that leave room for a number. */
const LONGEST_STEM = 57

const KeptNamespaceSchema = Type.Object({
  /** This and the next two are absent in what format 3 and older wrote. */
  format: Type.Optional(Type.Integer()),
  /** Of the package that wrote it. */
  version: Type.Optional(Type.String()),
  /** Where it is absent, the name alone. */
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
    Type.Object({ slug: Type.String(), client_id: Type.String(), client_secret: Type.String() }),
  ),
  /** What its fixture says otherwise than the sandbox's; null for nothing. */
  fixtures: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
})

/** What is known of a namespace before its data directory is opened. */
export type KeptNamespace = Omit<Static<typeof KeptNamespaceSchema>, 'format' | 'life'>

/** A namespace that is kept, or why it cannot be opened. */
export type FoundNamespace = Found & ({ kept: KeptNamespace } | { failure: Error })

interface Found {
  name: string
  life: string
}

/** What tells a namespace from every other one that has, had or will have its name; it begins with the name. */
export function newLife(name: string): string {
  return `${name}.${SeededRandom.secret().slice(0, ID_LENGTH)}`
}

/**
 * The folders of namespaces in a data directory, called by their lives: each a data directory of its own with a small file that
 * says what it is. The file is written last and removed first: a folder without it is what a kill left of one, and goes.
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

  /** Those that are kept, damaged ones included, by name. Removes what is left of others, as far as that can be done. */
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

  /** What is kept of a namespace, whose file stays as it is; null for what is left of one. Throws DataDirectoryError when it is damaged. */
  async peek(life: string): Promise<KeptNamespace | null> {
    const found = await this.#fileOf(life).peek()
    if (found === null) return null
    const { format: _, life: __, ...kept } = found
    return kept
  }

  /** From now on, a namespace is kept. When it rejects, it is not. */
  async keep(life: string, kept: KeptNamespace): Promise<void> {
    await new Low(this.#fileOf(life), { format: FORMAT, life, ...kept }).write()
  }

  /** From now on, a namespace is kept no longer; what is there of it goes with {@link remove}, or at the next start. */
  async forget(life: string): Promise<void> {
    const path = this.#pathOf(life)
    try {
      await rm(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
      throw systemFailure(path, error)
    }
    // No process finds it from here on: a flush that fails must not deny that, since a power cut alone could undo it.
    await syncDirectory(dirname(path)).catch(() => undefined)
  }

  /** Removes all that is there of a namespace. */
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
    return new DocumentFile(this.#pathOf(life), {
      schema: KeptNamespaceSchema,
      what: 'the file of a namespace',
      synced: true,
    })
  }
}

/** A name belongs to one life. Of several, which only other hands can put there, the others get a number, and are refused. */
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
