import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { SeededRandom } from '../support/random.ts'
import { damaged } from './journal-format.ts'
import { openPrivate, replacePrivate } from './private-file.ts'
import { systemFailure } from './system-failure.ts'

const FOLDER = 'namespaces'
const FILE = 'namespace.json'

/** Characters of an id that no other life has: 72 bits. */
const ID_LENGTH = 12
/** Characters of a name that leave room for a number. */
const LONGEST_STEM = 57

const KeptNamespaceSchema = Type.Object({
  /** Absent in what format 3 and older wrote: a life was called by its name alone. */
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
export type KeptNamespace = Static<typeof KeptNamespaceSchema>

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

  /** From now on, a namespace is kept. When it rejects, it is not. */
  async keep(life: string, kept: Omit<KeptNamespace, 'life'>): Promise<void> {
    const path = this.#fileOf(life)
    try {
      const handle = await replacePrivate(path, async (file) => {
        await file.writeFile(JSON.stringify({ life, ...kept }))
        await file.sync()
      })
      await handle.close()
    } catch (error) {
      throw systemFailure(path, error)
    }
  }

  /** From now on, a namespace is kept no longer; what is there of it goes with {@link remove}, or at the next start. */
  async forget(life: string): Promise<void> {
    const path = this.#fileOf(life)
    try {
      await rm(path, { force: true })
    } catch (error) {
      throw systemFailure(path, error)
    }
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
    const path = this.#fileOf(life)
    const [name = life] = life.split('.')
    try {
      const handle = await openPrivate(path)
      if (!handle) return void (await this.remove(life).catch(() => undefined))
      const data: unknown = JSON.parse(await handle.readFile('utf8').finally(() => handle.close()))
      if (!Value.Check(KeptNamespaceSchema, data)) throw damaged(path, 'it does not say what a namespace is')
      if ((data.life ?? name) !== life) throw damaged(path, `it is that of another folder (${data.life ?? name})`)
      return { name, life, kept: data }
    } catch (error) {
      const failure = error instanceof SyntaxError ? damaged(path, 'it is not JSON') : systemFailure(path, error)
      return { name, life, failure: failure instanceof Error ? failure : new Error(String(failure)) }
    }
  }

  #fileOf(life: string): string {
    return join(this.of(life), FILE)
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
