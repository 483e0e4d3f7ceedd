import type { Logger } from '../../support/logger.ts'
import { SeededRandom } from '../../support/random.ts'
import type { SandboxClock } from '../clock.ts'
import type { NamespaceStorage, StorageStart } from './namespace-storage.ts'

/** Characters of the part of a life that is unique: 72 bits. */
const ID_LENGTH = 12

/** Makes a new life: it begins with the name and distinguishes the namespace from every other that has, had or will have that name. */
export function newLife(name: string): string {
  return `${name}.${SeededRandom.secret().slice(0, ID_LENGTH)}`
}

/**
 * The namespaces that outlive a process, and the storage of each: folders of a data directory, or rows of a database. A namespace is named
 * by its life, see {@link newLife}; the default one, which is always there, by undefined.
 */
export interface NamespaceRegistry {
  /** The flag that names the place of all of them, for messages: `--data-dir` or `--database`. */
  readonly flag: string
  /**
   * Opens the storage of a namespace, or makes it where there is none. The default one is opened first. Rejects if it cannot be used: in use
   * by another process, damaged, of another format. Opening does not change what is stored.
   */
  open(life: string | undefined, options: StorageOptions): Promise<NamespaceStorage>
  /** The stored namespaces but the default one, damaged ones included, by name. Removes the remains of others as far as possible. */
  list(): Promise<FoundNamespace[]>
  /** The stored description of the default namespace, unchanged; null if it has none, as it has one only if it began with a snapshot. */
  peekDefault(): Promise<KeptNamespace | null>
  /** Stores the description of a namespace: a later process finds it from then on. If it rejects, the namespace is not stored. */
  keep(life: string | undefined, kept: KeptNamespace): Promise<void>
  /** Ends the storage of a namespace: no process finds it from then on. Does nothing if it is not stored. */
  forget(life: string): Promise<void>
  /** Removes everything of a namespace. */
  remove(life: string): Promise<void>
  /** Ends what it holds beside the storages, such as connections, once all of them are closed. May be called again. */
  close(): Promise<void>
  /** See NamespaceStorage. */
  readonly awaySince?: number | undefined
  /** Loses every storage at once, as one that others have taken: what waits to be stored ends, stored or not. Left out for files. */
  giveUp?(): void
}

/** A process that is alive. */
export interface LivingProcess {
  /** Its id. */
  id: string
  /** Where it listens to the others. */
  address: string
}

/** A namespace in a database, and who has it. */
export interface LocatedNamespace {
  name: string
  life: string
  /** Null for the default one, and for one that is being made. */
  kept: KeptNamespace | null
  /** Its owner; undefined if that is dead, or if nobody has it. */
  owner: LivingProcess | undefined
}

/** What all processes must make new namespaces from. */
export interface SharedBase {
  seed: number
  /** Fingerprint of the fixture. */
  fixture: string
}

/** @returns true if it is the address of a process that takes what others pass on */
export function takesOthers(address: string): boolean {
  return URL.canParse(address) && address.startsWith('http:')
}

/** Namespaces that several processes share, each of which one process at a time has. Every question rejects if the database does not answer. */
export interface SharedRegistry extends NamespaceRegistry, Pick<NamespaceStorage, 'holds' | 'awaySince'> {
  /** Id of this process. */
  readonly id: string
  /** For messages: the database. */
  readonly place: string
  /** Aborts when this process is dead for the others. It then needs another registry. */
  readonly dead: AbortSignal
  /** Renews a lease that has expired. @returns true if it holds then */
  renewed(): Promise<boolean>
  /** The secret that the processes know each other by, made by the first of them: base64url. */
  secret(): Promise<string>
  /** What the processes make namespaces from: the wish of the first of them, or what the default namespace was made from. Ends remains. */
  agree(wish: SharedBase): Promise<SharedBase>
  /** The namespace of that name, also one that is being made; undefined if there is none. */
  locate(name: string): Promise<LocatedNamespace | undefined>
  /** All that are stored, by name; the default one only if it was made. */
  locateAll(): Promise<LocatedNamespace[]>
  /** Those of nobody that were last written, or given back, longer ago than that. */
  unused(milliseconds: number): Promise<LocatedNamespace[]>
  /** The namespace of a client; undefined if it is unknown or the default one's. */
  ofClient(clientId: string): Promise<{ name: string; life: string } | undefined>
  /** Ids of the tenants of all namespaces but the default one. */
  tenants(): Promise<string[]>
  /** Number of namespaces beside the default one, those being made included. */
  count(): Promise<number>
  /** All processes that are alive, by id. */
  processes(): Promise<LivingProcess[]>
  /** Ends the right of this process to own namespaces: others can take them at once. It may still ask where they are. */
  leave(): Promise<void>
}

/**
 * Opens the namespaces of a database. Rejects, with one sentence that names the fix and not the URL's password, if the database cannot be
 * used, and then leaves no connection open.
 */
export type OpenDatabase = (
  url: string,
  options: {
    log: Logger
    /** For real time only. */
    clock: SandboxClock
    /** Of the package. */
    version: string
    /** Where this process listens to the others: an http URL. Undefined if it does not. */
    address?: string | undefined
  },
) => Promise<SharedRegistry>

/** Options of opening a storage, and the initial content of a new one. */
export interface StorageOptions extends StorageStart {
  /** True if each write must outlive a power cut before it is acknowledged. What a database keeps always does. Default false. */
  synced?: boolean
  log: Logger
}

/** Data of a namespace that is known before its storage is opened. */
export interface KeptNamespace {
  /** Version of the package that wrote it. */
  version?: string
  /** ISO 8601 UTC, wall-clock time. */
  created_at: string
  seed: number
  /** Milliseconds since the Unix epoch; null for real time. */
  clock_start: number | null
  /** Milliseconds. */
  confirmation_delay: { min: number; max: number }
  /** By tenant id. */
  clients: Record<string, KeptClient>
  /** Differences of its fixture from the sandbox's; null for none. */
  fixtures: Record<string, unknown> | null
}

/** The client that a tenant has in a namespace. */
interface KeptClient {
  slug: string
  client_id: string
  client_secret: string
  /** The key that the sandbox made for a tenant of a snapshot, PKCS#8 PEM. */
  private_key_pem?: string
  kid?: string
}

/** A stored namespace, or the reason why it cannot be opened. */
export type FoundNamespace = { name: string; life: string } & ({ kept: KeptNamespace } | { failure: Error })
