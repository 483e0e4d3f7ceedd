import type { DatabaseClock } from '../../src/database/database.ts'
import { DatabaseRegistry } from '../../src/database/database-registry.ts'
import type { PostgresStorage } from '../../src/database/postgres-storage.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { Logger } from '../../src/support/logger.ts'

/** A log that remembers its lines, as `level: message`. */
export function linesLog(): Logger & { lines: string[] } {
  const lines: string[] = []
  const at = (level: string) => (_: object, message: string) => void lines.push(`${level}: ${message}`)
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** Clock of a process that never renews its lease: it sleeps until it is woken. */
export const SLEEPER = Object.assign(new SandboxClock(), {
  wallSleep: (_: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal?.aborted) resolve()
      signal?.addEventListener('abort', () => resolve())
    }),
})

/** Content of the manifest of namespaces that tests make. */
export const START = { version: '0.0.0', seed: 7, fixture: 'acme' }
const FORMATS = { oldest: 4, newest: 4 }

/** Options of {@link openRegistry} that tests change. */
interface RegistryWish {
  schema?: string
  version?: string
  formats?: { oldest: number; newest: number }
  leaseMs?: number
  address?: string
  log?: Logger
  clock?: DatabaseClock
}

/** A process of a team's sandbox, as far as its database is concerned. */
export function openRegistry(url: string, wish: RegistryWish = {}): Promise<DatabaseRegistry> {
  const usual = { address: 'one:1', version: '0.0.0', formats: FORMATS, log: linesLog() }
  return DatabaseRegistry.open({ url, clock: new SandboxClock(), ...usual, ...wish })
}

/** The storage of a namespace, made where there is none. */
export function openStorage(registry: DatabaseRegistry, name: string): Promise<PostgresStorage> {
  return registry.open(`${name}.1`, { ...START, log: linesLog() })
}
