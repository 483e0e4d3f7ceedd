import { NamespaceFolders } from '../data-dir/namespace-folders.ts'
import { SandboxClock } from '../domain/clock.ts'
import { type NamespaceRegistry, type SharedRegistry, takesOthers } from '../domain/ports/namespace-registry.ts'
import { OptionError } from '../option-error.ts'
import type { SandboxOptions } from '../options.ts'
import type { Logger } from '../support/logger.ts'
import { version } from '../version.ts'

/**
 * Where the namespaces of a sandbox are kept, by its options; undefined if they end with the process. Rejects if that cannot be used,
 * with OptionError if the options do not go together.
 */
export async function openRegistry(options: SandboxOptions, log: Logger): Promise<NamespaceRegistry | undefined> {
  const { dataDir, database } = options
  if (database === undefined) return dataDir === undefined ? undefined : new NamespaceFolders(dataDir)
  refuseBesideDatabase(options)
  const registry = await openShared({ ...options, database }, { log })
  try {
    await refuseBesideFleet(registry)
    return registry
  } catch (error) {
    await registry.close()
    throw error
  }
}

/** Milliseconds after which the lease of a process that was killed has run out, and between two looks. */
const [LEASE_MS, LOOK_MS] = [3_000, 250]

/** Refuses a start beside processes that share the database: they would have namespaces that this one could not serve. Throws OptionError. */
async function refuseBesideFleet(registry: SharedRegistry): Promise<void> {
  const clock = new SandboxClock() // for real time only
  const began = clock.monotonicNow()
  for (;;) {
    const all = await registry.processes()
    const member = all.find(({ id, address }) => id !== registry.id && takesOthers(address))
    if (!member) return
    if (clock.monotonicNow() - began > LEASE_MS) {
      throw new OptionError(
        `the process ${member.address} has namespaces of --database, and shares it with others: end it, or start this one with --fleet-port`,
      )
    }
    await clock.wallSleep(LOOK_MS)
  }
}

/** The namespaces in the database of these options. `address`: where this process listens to the others on it. Rejects as {@link openRegistry}. */
export async function openShared(
  options: SandboxOptions & { database: string },
  { log, address }: { log: Logger; address?: string },
): Promise<SharedRegistry> {
  // Here alone, with its driver: no other start needs them.
  const { openDatabase } = await import('../database/open-database.ts')
  return openDatabase(options.database, { log, clock: new SandboxClock(), version, address })
}

/** Refuses options that do not go with a database. Throws OptionError. */
export function refuseBesideDatabase({ dataDir, tls }: SandboxOptions): void {
  if (dataDir !== undefined) {
    throw new OptionError('--database and --data-dir each keep the whole state: leave one of them out')
  }
  if (tls !== undefined) {
    throw new OptionError(
      '--tls self-signed makes another certificate for each process, and a database is for several: give --tls-cert and --tls-key with --database, or leave --tls out',
    )
  }
}
