import { NamespaceFolders } from '../data-dir/namespace-folders.ts'
import { SandboxClock } from '../domain/clock.ts'
import type { NamespaceRegistry, SharedRegistry } from '../domain/ports/namespace-registry.ts'
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
  return openShared({ ...options, database }, { log })
}

/** The namespaces in the database of these options. `address`: where this process listens to the others on it. Rejects as {@link openRegistry}. */
export async function openShared(
  options: SandboxOptions & { database: string },
  { log, address }: { log: Logger; address?: string },
): Promise<SharedRegistry> {
  refuseBesideDatabase(options)
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
