import type { SandboxClock } from '../domain/clock.ts'
import { Problem } from '../domain/errors.ts'
import type { Logger } from '../support/logger.ts'
import { BoundedMap } from '../support/maps.ts'
import { writtenDuration } from '../support/quantities.ts'

/** Milliseconds of real time between two looks for namespaces that nobody uses, at most. */
const LOOK_MS = 60_000
/** Number of deleted namespaces of which the reason is kept. */
const REMEMBERED = 1_000

/** A namespace that can expire. */
export interface Expiring {
  readonly name: string
  readonly life: string
  /** Client ids. */
  readonly clients: readonly string[]
  /** True while somebody waits for an answer of it, or looks at it. */
  readonly busy: boolean
}

/** Dependencies of {@link Expiry}. */
export interface ExpiryDeps {
  /** Milliseconds of real time without use after which a namespace is deleted; 0 for never. */
  after: number
  clock: Pick<SandboxClock, 'wallNow' | 'wallSleep'>
  log: Logger
  /** The namespaces that may be deleted now. */
  expiring(): readonly Expiring[]
  /** In a process of several: those that are nobody's, and have not been used for that number of milliseconds. */
  resting?: ((milliseconds: number) => Promise<readonly Expiring[]>) | undefined
  remove(name: string): Promise<void>
}

/** Deletes namespaces that nobody has used for a time, and explains it to those who come later. */
export class Expiry {
  readonly #deps: ExpiryDeps
  /** Real time of the last use, by life; one that is not there counts as used when it is first looked at. */
  readonly #usedAt = new Map<string, number>()
  /** Those that were deleted, by name, and by client id. */
  readonly #namespaces = new BoundedMap<string, Expiring>(REMEMBERED)
  readonly #byClient = new BoundedMap<string, Expiring>(REMEMBERED)
  readonly #over = new AbortController()

  constructor(deps: ExpiryDeps) {
    this.#deps = deps
    if (deps.after > 0) void this.#watch(Math.min(deps.after / 4, LOOK_MS))
  }

  /** Notes a use of a namespace. */
  used({ life }: Pick<Expiring, 'life'>): void {
    if (this.#deps.after > 0) this.#usedAt.set(life, this.#deps.clock.wallNow())
  }

  /** True if a namespace was deleted for want of use. */
  get hasDeleted(): boolean {
    return this.#byClient.size > 0
  }

  /** A namespace that was deleted for want of use; undefined for any other name. */
  expired(name: string): Pick<Expiring, 'name' | 'life'> | undefined {
    return this.#namespaces.get(name)
  }

  /** Explains why there is no namespace of that name; undefined if it never was, or was deleted by somebody. */
  whyGone(name: string): string | undefined {
    return this.#namespaces.has(name) ? this.#sentence(name) : undefined
  }

  /** The refusal of a client whose namespace was deleted for want of use; undefined for any other client. */
  refusalOf(clientId: string): Problem | undefined {
    const namespace = this.#byClient.get(clientId)
    if (!namespace) return undefined
    const detail = this.#sentence(namespace.name)
    return new Problem('unknown_partner', { detail, param: 'Authorization', aspect: 'appid' })
  }

  /** Forgets that a namespace of that name was deleted: there is another one. */
  madeAgain(name: string): void {
    this.#namespaces.delete(name)
  }

  stop(): void {
    this.#over.abort()
  }

  #sentence(name: string): string {
    const { after } = this.#deps
    return `The namespace "${name}" was deleted because nobody had used it for ${writtenDuration(after)} (--namespace-expiry of the sandbox); make it again.`
  }

  async #watch(interval: number): Promise<void> {
    const { clock, expiring } = this.#deps
    const { signal } = this.#over
    for (;;) {
      await clock.wallSleep(interval, signal)
      if (signal.aborted) return
      // A database that does not answer now does so at another look.
      const resting = (await this.#deps.resting?.(this.#deps.after).catch(() => [])) ?? []
      const all = expiring()
      const due = all.filter((one) => this.#isDue(one))
      await Promise.all([...due, ...resting.filter(({ busy }) => !busy)].map((one) => this.#delete(one)))
      const lives = new Set(all.map(({ life }) => life))
      for (const life of this.#usedAt.keys()) if (!lives.has(life)) this.#usedAt.delete(life)
    }
  }

  #isDue(namespace: Expiring): boolean {
    const usedAt = this.#usedAt.get(namespace.life)
    const isDue = usedAt !== undefined && this.#deps.clock.wallNow() - usedAt >= this.#deps.after
    if (isDue && !namespace.busy) return true
    if (isDue || usedAt === undefined) this.used(namespace)
    return false
  }

  async #delete(namespace: Expiring): Promise<void> {
    const { log, remove, after } = this.#deps
    const { name, clients } = namespace
    this.#namespaces.set(name, namespace)
    for (const client of clients) this.#byClient.set(client, namespace)
    try {
      await remove(name)
      log.info({ namespace: name, unused: writtenDuration(after) }, 'a namespace was deleted: nobody used it')
    } catch (error) {
      this.#namespaces.delete(name)
      for (const client of clients) this.#byClient.delete(client)
      log.warn({ namespace: name, err: error }, 'a namespace that nobody uses could not be deleted')
    }
  }
}
