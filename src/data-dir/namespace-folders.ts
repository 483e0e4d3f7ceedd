import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Type } from '@sinclair/typebox'
import type {
  FoundNamespace,
  KeptNamespace,
  NamespaceRegistry,
  StorageOptions,
} from '../domain/ports/namespace-registry.ts'
import type { NamespaceStorage } from '../domain/ports/namespace-storage.ts'
import { DataDirectory } from './data-directory.ts'
import { damaged, systemFailure } from './data-directory-error.ts'
import { DocumentFile, FORMAT } from './document-file.ts'
import { syncDirectory } from './private-file.ts'

const FOLDER = 'namespaces'
const FILE = 'namespace.json'

/** Most characters of a name to which a number is appended. */
const LONGEST_STEM = 57

/** A {@link KeptNamespace} in a file. */
const KeptNamespaceSchema = Type.Object({
  /** This and the next two are absent in files of format 3 and older. */
  format: Type.Optional(Type.Integer()),
  version: Type.Optional(Type.String()),
  /** If it is absent, the life is the name alone. */
  life: Type.Optional(Type.String()),
  created_at: Type.String(),
  seed: Type.Integer(),
  clock_start: Type.Union([Type.Number(), Type.Null()]),
  confirmation_delay: Type.Object({ min: Type.Number(), max: Type.Number() }),
  clients: Type.Record(
    Type.String(),
    Type.Object({
      slug: Type.String(),
      client_id: Type.String(),
      client_secret: Type.String(),
      private_key_pem: Type.Optional(Type.String()),
      kid: Type.Optional(Type.String()),
    }),
  ),
  fixtures: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
})

/**
 * A data directory, which is that of the default namespace, and the folders of the other ones in it, named after their lives: each is a data
 * directory of its own with a small file that describes the namespace. The file is written last and removed first; a folder without it is
 * the remains of a kill and is removed. That of the default one has the file only if it began with a snapshot.
 */
export class NamespaceFolders implements NamespaceRegistry {
  readonly flag = '--data-dir'
  /** Its real path once the default namespace is open: then what the path leads to may change. */
  #directory: string

  constructor(dataDir: string) {
    this.#directory = resolve(dataDir)
  }

  /** The data directory of a namespace. */
  of(life: string | undefined): string {
    return life === undefined ? this.#directory : join(this.#path, life)
  }

  async open(life: string | undefined, options: StorageOptions): Promise<NamespaceStorage> {
    const directory = await DataDirectory.open(this.of(life), options)
    if (life === undefined) this.#directory = directory.place
    return directory
  }

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

  /** Reads the data of a namespace without changing its file; null if there is none. Throws DataDirectoryError if it is damaged. */
  async peek(life: string | undefined): Promise<KeptNamespace | null> {
    const found = await this.#fileOf(life).peek()
    if (found === null) return null
    const { format: _, life: __, ...kept } = found
    return kept
  }

  async peekDefault(): Promise<KeptNamespace | null> {
    return existsSync(this.#pathOf(undefined)) ? this.peek(undefined) : null
  }

  async keep(life: string | undefined, kept: KeptNamespace): Promise<void> {
    await this.#fileOf(life).write({ format: FORMAT, ...(life !== undefined && { life }), ...kept })
  }

  /** {@link remove}, or the next start, removes what it leaves. */
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

  async remove(life: string): Promise<void> {
    await this.forget(life)
    try {
      await rm(this.of(life), { recursive: true, force: true })
    } catch (error) {
      throw systemFailure(this.of(life), error)
    }
  }

  /** Nothing is held beside the directories. */
  async close(): Promise<void> {}

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

  get #path(): string {
    return join(this.#directory, FOLDER)
  }

  #pathOf(life: string | undefined): string {
    return join(this.of(life), FILE)
  }

  #fileOf(life: string | undefined): DocumentFile<typeof KeptNamespaceSchema> {
    const what = 'the file of a namespace'
    return new DocumentFile(this.#pathOf(life), { schema: KeptNamespaceSchema, what, synced: true })
  }
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
