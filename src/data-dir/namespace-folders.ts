import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { damaged } from './journal-format.ts'
import { openPrivate, replacePrivate } from './private-file.ts'
import { systemFailure } from './system-failure.ts'

const FOLDER = 'namespaces'
const FILE = 'namespace.json'

const KeptNamespaceSchema = Type.Object({
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
export type KeptNamespace = Static<typeof KeptNamespaceSchema>

/** A namespace that is kept, or why it cannot be opened. */
export type FoundNamespace = { name: string; kept: KeptNamespace } | { name: string; failure: Error }

/**
 * The folders of namespaces in a data directory, each a data directory of its own with a small file that says what it is. The
 * file is written last and removed first: a folder without it is what a kill left of one, and goes.
 */
export class NamespaceFolders {
  readonly #path: string

  constructor(dataDir: string) {
    this.#path = join(dataDir, FOLDER)
  }

  /** The data directory of a namespace. */
  of(name: string): string {
    return join(this.#path, name)
  }

  /** Those that are kept, damaged ones included, by name. Removes what is left of others. */
  async list(): Promise<FoundNamespace[]> {
    const names = await readdir(this.#path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw systemFailure(this.#path, error)
    })
    const found = await Promise.all(names.sort().map((name) => this.#find(name)))
    return found.flatMap((one) => one ?? [])
  }

  /** From now on, a namespace is kept. */
  async keep(name: string, kept: KeptNamespace): Promise<void> {
    const path = this.#fileOf(name)
    try {
      const handle = await replacePrivate(path, (file) => file.writeFile(JSON.stringify(kept)))
      await handle.sync()
      await handle.close()
    } catch (error) {
      throw systemFailure(path, error)
    }
  }

  /** From now on, a namespace is kept no longer; what is there of it goes with {@link remove}, or at the next start. */
  async forget(name: string): Promise<void> {
    await rm(this.#fileOf(name), { force: true })
  }

  /** Removes all that is there of a namespace. */
  async remove(name: string): Promise<void> {
    try {
      await this.forget(name)
      await rm(this.of(name), { recursive: true, force: true })
    } catch (error) {
      throw systemFailure(this.of(name), error)
    }
  }

  async #find(name: string): Promise<FoundNamespace | undefined> {
    const path = this.#fileOf(name)
    try {
      const handle = await openPrivate(path)
      if (!handle) return void (await this.remove(name))
      const data: unknown = JSON.parse(await handle.readFile('utf8').finally(() => handle.close()))
      if (!Value.Check(KeptNamespaceSchema, data)) throw damaged(path, 'it does not say what a namespace is')
      return { name, kept: data }
    } catch (error) {
      const failure = error instanceof SyntaxError ? damaged(path, 'it is not JSON') : systemFailure(path, error)
      return { name, failure: failure instanceof Error ? failure : new Error(String(failure)) }
    }
  }

  #fileOf(name: string): string {
    return join(this.of(name), FILE)
  }
}
