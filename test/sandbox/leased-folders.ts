import { NamespaceFolders } from '../../src/data-dir/namespace-folders.ts'
import { NotKeptError } from '../../src/domain/ports/journal.ts'
import type { StorageOptions } from '../../src/domain/ports/namespace-registry.ts'
import type { NamespaceStorage } from '../../src/domain/ports/namespace-storage.ts'
import type { UnparsedJournal } from '../../src/domain/ports/unparsed-journal.ts'

/** A lease as a test wants it: what a database decides. */
export interface Lease {
  holds: boolean
  awaySince: number | undefined
  /** Takes the storage from its owner. */
  lose(): void
  /** Everything that the owner tried to write after it had lost the storage. */
  readonly lateWrites: string[]
}

/** Namespaces in a data directory, which can be taken from the process as a database's can: that has a suite of its own. */
export class LeasedFolders extends NamespaceFolders {
  /** By the name of a namespace; the latest storage of each. */
  readonly leases = new Map<string, Lease>()
  /** Number of storages that were opened, by name. */
  readonly opened = new Map<string, number>()
  closed = false

  override async open(life: string | undefined, options: StorageOptions): Promise<NamespaceStorage> {
    const name = life?.split('.')[0] ?? 'default'
    const storage = await super.open(life, options)
    const gone = new AbortController()
    const lateWrites: string[] = []
    const lease: Lease = { holds: true, awaySince: undefined, lose: () => gone.abort(), lateWrites }
    this.leases.set(name, lease)
    this.opened.set(name, (this.opened.get(name) ?? 0) + 1)
    return leased(storage, { lease, lost: gone.signal })
  }

  lease(name: string): Lease {
    return this.leases.get(name) ?? { holds: false, awaySince: undefined, lose: () => undefined, lateWrites: [] }
  }

  /** No process shares them. */
  async processes(): Promise<never[]> {
    return []
  }

  override async close(): Promise<void> {
    this.closed = true
  }
}

function leased(storage: NamespaceStorage, { lease, lost }: { lease: Lease; lost: AbortSignal }): NamespaceStorage {
  const writing = async (what: string, write: () => Promise<void>) => {
    if (!lost.aborted) return write()
    lease.lateWrites.push(what)
    throw new NotKeptError('another process has it')
  }
  const { manifest } = storage
  return {
    place: storage.place,
    manifest: {
      get data() {
        return manifest.data
      },
      update: (changes) => writing(`manifest ${JSON.stringify(changes)}`, () => manifest.update(changes)),
      raiseFormat: () => writing('format', () => manifest.raiseFormat()),
    },
    async journal<Entry>(name: string): Promise<UnparsedJournal<Entry>> {
      const journal = await storage.journal<Entry>(name)
      return {
        read: () => journal.read(),
        readUnparsed: () => journal.readUnparsed(),
        append: (entry: Entry) => writing(name, () => journal.append(entry)),
        rewrite: (entries: Iterable<Entry> | AsyncIterable<Entry>) => writing(name, () => journal.rewrite(entries)),
        get size() {
          return journal.size
        },
        close: () => journal.close(),
      }
    },
    begin: (version) => writing('begin', () => storage.begin(version)),
    check: () => storage.check(),
    probeRoom: (bytes) => storage.probeRoom(bytes),
    close: () => storage.close(),
    lost,
    holds: () => lease.holds,
    get awaySince() {
      return lease.awaySince
    },
  }
}
