import type { NamespaceSummary } from '../control/contract.ts'
import { Problem } from '../domain/errors.ts'
import type { FoundNamespace, KeptNamespace } from '../domain/ports/namespace-registry.ts'
import type { Logger } from '../support/logger.ts'
import type { Expiring } from './expiry.ts'
import type { Namespace } from './namespace.ts'
import { keptOf } from './open-namespace.ts'

/** Identity of a namespace. */
export interface NamespaceIdentity {
  name: string
  /** Distinguishes it from every other namespace that has, had or will have its name. */
  life: string
}

/** The two steps of a deletion. */
export interface Deletion {
  /** Forgets the namespace: nothing leads to it any more, in this process or a later one. Rejects with nothing done. */
  forget(): Promise<void>
  /** Removes the rest of it once it has ended, its name last. */
  remove(): Promise<void>
}

/** State of a namespace that is not open. */
type Closed =
  | { is: 'making'; made: Promise<Namespace> }
  | { is: 'kept'; kept: KeptNamespace }
  | { is: 'damaged'; failure: Error }

/** Dependencies of an entry. */
export interface Opening {
  /** Opens the namespace as it is stored. */
  open(kept: KeptNamespace): Promise<Namespace>
  log: Logger
  /** True in a process of several, which give namespaces to each other. */
  moves: boolean
}

/** @returns true if a namespace cannot be opened because another process has it */
export function isOwnedElsewhere(error: unknown): boolean {
  return error instanceof Error && error.name === 'OwnedElsewhereError'
}

/** Entry of a namespace in the register, from the moment its name is taken until nothing is left, open or not. */
export class NamespaceEntry {
  /** Entry of a namespace that is being made; `made` resolves when it can serve. */
  static making(one: NamespaceIdentity, made: Promise<Namespace>, opening: Opening): NamespaceEntry {
    const entry = new NamespaceEntry(one, { is: 'making', made }, opening)
    entry.made.catch(() => undefined) // the caller of create gets the rejection
    return entry
  }

  /** Entry of a namespace that an earlier process left; it is opened at first use. */
  static found(found: FoundNamespace, opening: Opening): NamespaceEntry {
    if ('kept' in found) return new NamespaceEntry(found, { is: 'kept', kept: found.kept }, opening)
    const { failure } = found
    const entry = new NamespaceEntry(found, { is: 'damaged', failure }, opening)
    entry.#failure = failure.message
    return entry
  }

  readonly name: string
  /** Distinguishes it from every other namespace that has, had or will have its name. */
  readonly life: string
  #closed: Closed
  readonly #opener: Opening['open']
  readonly #log: Logger
  readonly #moves: boolean
  #namespace: Namespace | undefined
  #opening: Promise<Namespace> | undefined
  #losing: Promise<void> | undefined
  #failure: string | undefined
  #deletion: Promise<void> | undefined
  #deleted = false
  #ended: Promise<void> | undefined

  private constructor({ name, life }: NamespaceIdentity, closed: Closed, { open, log, moves }: Opening) {
    this.name = name
    this.life = life
    this.#closed = closed
    this.#opener = open
    this.#log = log
    this.#moves = moves
  }

  /** The namespace, if it is open. */
  get open(): Namespace | undefined {
    return this.#namespace
  }

  /** @returns true if it is open, or is being made or opened */
  get held(): boolean {
    return this.#namespace !== undefined || this.#opening !== undefined
  }

  /** @returns true while it is being made and nothing of it exists yet */
  get inTheMaking(): boolean {
    return this.#closed.is === 'making' && this.#namespace === undefined
  }

  /** Reason why it could not be opened when it was last asked for; undefined if it could. */
  get failure(): string | undefined {
    return this.#failure
  }

  /** The namespace, opened if necessary. Throws Problem sandbox_starting if it cannot be opened. */
  get(): Namespace | Promise<Namespace> {
    return this.#namespace ?? this.#opening ?? this.#open()
  }

  /** The namespace, opened if necessary. Rejects with the reason why it cannot be made or opened. */
  get made(): Promise<Namespace> {
    return Promise.resolve(this.get())
  }

  /** Its clients by tenant id, as far as they are known. */
  get clients(): KeptNamespace['clients'] {
    if (this.#namespace) return this.#namespace.clients
    return this.#closed.is === 'kept' ? this.#closed.kept.clients : {}
  }

  /** Summary for a list of namespaces. */
  summary(): NamespaceSummary {
    if (this.#namespace) return summaryOf(this.#namespace)
    const kept = this.#closed.is === 'kept' ? this.#closed.kept : undefined
    const known = kept && { seed: kept.seed, created_at: kept.created_at }
    const readiness = { ready: this.#failure === undefined, ...reasonOf(this.#failure) }
    const traffic = { requests: 0, last_request_at: null, failed_findings: null }
    return { name: this.name, ...known, ...readiness, tenants: slugsOf(this.clients), ...traffic }
  }

  /** It alone, if it may be deleted for want of use: not while it is made, nor if it is damaged, which somebody has to see. */
  get expiring(): Expiring[] {
    if (this.inTheMaking || this.#deletion || this.#closed.is === 'damaged') return []
    const busy = this.#opening !== undefined || this.#namespace?.busy === true
    const clients = Object.values(this.clients).map(({ client_id }) => client_id)
    return [{ name: this.name, life: this.life, clients, busy }]
  }

  /** @returns true once it is no longer stored, though its name and files may still exist */
  get deleted(): boolean {
    return this.#deleted
  }

  /** Its deletion, once begun; see {@link delete}. */
  get deletion(): Promise<void> | undefined {
    return this.#deletion
  }

  /**
   * Deletes it, once it is made; resolves when nothing is left except files that the next start removes. Later callers wait for the same
   * deletion. Rejects, with nothing done, if it cannot be forgotten.
   */
  delete(steps: Deletion): Promise<void> {
    this.#deletion ??= this.#delete(steps).catch((error: unknown) => {
      this.#deletion = undefined
      throw error
    })
    return this.#deletion
  }

  /** Ends it; if it is being opened, once it is open. May be called again. */
  end(served?: Promise<void>): Promise<void> {
    this.#ended ??= this.#end(served)
    return this.#ended
  }

  async #delete({ forget, remove }: Deletion): Promise<void> {
    await forget()
    this.#deleted = true
    for (const step of [() => this.end(), remove]) {
      await step().catch((error: unknown) =>
        this.#log.warn(
          { namespace: this.name, err: error },
          'a deleted namespace left something; it goes at the next start',
        ),
      )
    }
  }

  async #end(served: Promise<void> | undefined): Promise<void> {
    const namespace = this.#namespace ?? (await this.#opening?.catch(() => undefined))
    namespace?.beginStop()
    await namespace?.stop(served, { discarded: this.#deleted })
    await this.#losing
  }

  #open(): Promise<Namespace> {
    if (this.#ended) return Promise.reject(new Problem('sandbox_starting', { detail: 'The sandbox is stopping.' }))
    this.#opening = this.#opened()
      .then((namespace) => {
        this.#namespace = namespace
        this.#failure = undefined
        const { lost } = namespace
        if (lost?.aborted) throw this.#lose(namespace)
        lost?.addEventListener('abort', () => void (this.#ended ?? this.#deletion ?? this.#lose(namespace)), {
          once: true,
        })
        return namespace
      })
      .catch((error: unknown) => {
        if (this.#closed.is === 'making') throw error
        const reason = error instanceof Error ? error.message : String(error)
        // Another process of several was faster: that is no failure of this one.
        const isFailure = !(this.#moves && isOwnedElsewhere(error))
        if (isFailure) this.#failure = reason
        if (isFailure) this.#log.error({ namespace: this.name, err: error }, 'a namespace could not be opened')
        const detail = `The namespace "${this.name}" cannot be opened: ${reason}`
        throw new Problem('sandbox_starting', { detail, param: 'namespace' }, { cause: error })
      })
      .finally(() => {
        this.#opening = undefined
      })
    return this.#opening
  }

  async #opened(): Promise<Namespace> {
    if (this.#closed.is === 'making') return this.#closed.made
    if (this.#closed.is === 'damaged') throw this.#closed.failure
    await this.#losing
    return this.#opener(this.#closed.kept)
  }

  /** Ends it after its state was lost to another process. Its next use opens it again, if it is to be had then. Returns the reason. */
  #lose(namespace: Namespace): Error {
    const reason = 'another process has its stored state now'
    this.#log.warn({ namespace: this.name }, reason)
    this.#closed = { is: 'kept', kept: keptOf(namespace) }
    this.#namespace = undefined
    this.#losing = namespace.stop(undefined).catch((error: unknown) => {
      this.#log.warn({ namespace: this.name, err: error }, 'a namespace whose state was lost did not end in order')
    })
    return new Error(`${reason}.`)
  }
}

/** Summary of an open namespace for a list of namespaces. */
export function summaryOf(namespace: Namespace): NamespaceSummary {
  const { name, seed, created_at, clients } = namespace
  const { exchanges } = namespace.services
  const { newestAt } = exchanges
  const traffic = {
    requests: exchanges.size,
    last_request_at: newestAt === null ? null : new Date(newestAt).toISOString(),
    failed_findings: namespace.overview.brokenRules,
  }
  return { name, seed, created_at, ...namespace.readiness(), tenants: slugsOf(clients), ...traffic }
}

function slugsOf(clients: KeptNamespace['clients']): string[] {
  return Object.values(clients).map(({ slug }) => slug)
}

function reasonOf(reason: string | undefined) {
  return reason !== undefined && { reason }
}
