import { isLoopback } from './domain/origin.ts'
import type { QuotaLimits } from './domain/quota.ts'
import type { FixtureOptions } from './fixtures/fixture.ts'
import type { ForkOptions } from './fixtures/resolve-chains.ts'
import { OptionError } from './option-error.ts'
import { parseClockStart, publicOrigin } from './option-values.ts'
import { SANDBOX_OPTIONS, type SandboxOptions } from './options.ts'
import { type DurationRange, parseDuration, parseDurationRange, parseSize } from './support/quantities.ts'
import { SeededRandom } from './support/random.ts'
import type { LogBounds } from './traffic/exchange-log.ts'

/** The certificate to serve https with: one made for it, or PEM files. */
export type TlsOption = 'self-signed' | { cert: string; key: string }

/** Options with every default filled in. */
export interface ResolvedOptions {
  port: number
  /** True if a free port does as well when that one is taken. */
  portMayDiffer: boolean
  /** Undefined for loopback, IPv4 and IPv6. */
  host: string | undefined
  /** An origin. Undefined: the address listened on. */
  publicUrl: string | undefined
  /** Undefined for http. */
  tls: TlsOption | undefined
  /** True if only this machine can reach the sandbox. */
  local: boolean
  confirmationDelay: DurationRange
  /** Milliseconds of business time between blocks that are mined for readers. */
  blockTime: number
  dataDir: string | undefined
  /** True if a database keeps the state: then other processes may take it over. Its URL, a secret, is not kept. */
  database: boolean
  /** True if it is one process of several on that database. */
  fleet: boolean
  /** Milliseconds for which one of several processes goes on with held requests when it is told to stop. */
  drain: number
  fsync: boolean
  /** The seed that is asked for; undefined for any. */
  seed: number | undefined
  /** Milliseconds since the Unix epoch; undefined for real time. */
  clock: number | undefined
  controlToken: string | undefined
  /** True if browsers find the inspector at `/`. */
  inspector: boolean
  maxNamespaces: number
  maxNodes: number
  /** Milliseconds. */
  namespaceIdle: number
  /** What each namespace may use. */
  quota: QuotaLimits
  /** Milliseconds without use after which a namespace is deleted; 0 for never. */
  namespaceExpiry: number
  /** Milliseconds without use after which it ends; 0 for never. */
  idleExit: number
  /** How much is kept of what clients send. */
  recording: LogBounds
  /** Level from the fixture file; the logger itself is an option. */
  logLevel: string | undefined
}

const { port, confirmationDelay, fsync, ...OTHERS } = SANDBOX_OPTIONS

/** Fills in what was left out: option, then fixture file, then default. The values have been checked. Throws OptionError. */
export function resolveOptions(given: SandboxOptions, fixture: FixtureOptions): ResolvedOptions {
  const { host, publicUrl, local } = resolveAddress(given, fixture)
  return {
    ...resolvePort(given, fixture),
    host,
    publicUrl,
    tls: resolveTls(given),
    local,
    dataDir: given.dataDir,
    database: given.database !== undefined,
    fleet: given.fleetPort !== undefined,
    drain: inNumbers(given.drain ?? OTHERS.drain.default, parseDuration),
    fsync: given.fsync ?? fixture.fsync ?? fsync.default,
    seed: given.seed ?? fixture.seed,
    clock: given.clock === undefined ? undefined : parseClockStart(given.clock),
    controlToken: given.controlToken ?? (local ? undefined : SeededRandom.secret()),
    inspector: given.inspector ?? OTHERS.inspector.default,
    maxNamespaces: given.maxNamespaces ?? OTHERS.maxNamespaces.default,
    maxNodes: given.maxNodes ?? OTHERS.maxNodes.default,
    blockTime: inNumbers(given.blockTime ?? OTHERS.blockTime.default, parseDuration),
    namespaceIdle: inNumbers(given.namespaceIdle ?? OTHERS.namespaceIdle.default, parseDuration),
    quota: {
      requestsPerSecond: given.quotaRequestsPerSecond ?? OTHERS.quotaRequestsPerSecond.default,
      ledgerBytes: inNumbers(given.quotaLedgerBytes ?? OTHERS.quotaLedgerBytes.default, parseSize),
      anvils: given.quotaAnvils ?? OTHERS.quotaAnvils.default,
    },
    namespaceExpiry: inNumbers(given.namespaceExpiry ?? OTHERS.namespaceExpiry.default, parseDuration),
    idleExit: inNumbers(given.idleExit ?? OTHERS.idleExit.default, parseDuration),
    recording: {
      maxExchanges: given.recordExchanges ?? OTHERS.recordExchanges.default,
      maxBytes: inNumbers(given.recordBytes ?? OTHERS.recordBytes.default, parseSize),
    },
    logLevel: fixture.log_level,
    confirmationDelay: resolveDelay(given.confirmationDelay ?? fixture.confirmation_delay ?? confirmationDelay.default),
  }
}

function resolvePort(given: SandboxOptions, fixture: FixtureOptions): Pick<ResolvedOptions, 'port' | 'portMayDiffer'> {
  const usual = fixture.port ?? port.default
  return given.port === 'auto'
    ? { port: usual, portMayDiffer: true }
    : { port: given.port ?? usual, portMayDiffer: false }
}

function inNumbers(given: string | number, parse: (text: string) => number): number {
  return typeof given === 'number' ? given : parse(given)
}

/** A confirmation delay as it is given, in milliseconds when it is a number. Throws UnreadableTextError. */
export function resolveDelay(given: string | number): DurationRange {
  return typeof given === 'number' ? { min: given, max: given } : parseDurationRange(given)
}

/** The start options about forking, under the names of a fixture's chain. */
export function resolveFork({ forkUrl: url, forkBlockNumber: block }: SandboxOptions): ForkOptions {
  return { ...(url !== undefined && { url }), ...(block !== undefined && { block_number: block }) }
}

function resolveAddress(given: SandboxOptions, fixture: FixtureOptions) {
  const host = given.host ?? fixture.host
  const publicUrl = given.publicUrl === undefined ? undefined : publicOrigin(given.publicUrl)
  const reached = [host, publicUrl && new URL(publicUrl).hostname.replace(/^\[(.*)\]$/, '$1')]
  const local = reached.every((one) => one === undefined || isLoopback(one))
  return { host, publicUrl, local }
}

function resolveTls({ tls, tlsCert: cert, tlsKey: key }: SandboxOptions): TlsOption | undefined {
  if (cert === undefined && key === undefined) return tls
  if (tls !== undefined)
    throw new OptionError('--tls self-signed makes its own: leave out --tls-cert and --tls-key, or --tls')
  if (cert !== undefined && key !== undefined) return { cert, key }
  const [given, missing] = cert === undefined ? ['--tls-key', '--tls-cert'] : ['--tls-cert', '--tls-key']
  throw new OptionError(`${given} needs ${missing}: the certificate and its key are two PEM files`)
}
