import { fileURLToPath } from 'node:url'
import { isLoopback } from './domain/origin.ts'
import type { FixtureOptions } from './fixtures/fixture.ts'
import type { ForkOptions } from './fixtures/resolve-chains.ts'
import { OptionError, refuseUnknownNames } from './option-error.ts'
import { PACKAGE_ROOT } from './package-root.ts'
import { UnreadableTextError } from './support/issue.ts'
import { type DurationRange, parseDuration, parseDurationRange, parseMoment, parseSize } from './support/quantities.ts'
import { MAX_SEED, SeededRandom } from './support/random.ts'
import type { LogBounds } from './traffic/exchange-log.ts'

/** Writes one entry of a level: fields and a message, or a message alone. */
interface LogMethod {
  (fields: object, message?: string, ...values: unknown[]): void
  (message: string, ...values: unknown[]): void
}

/** A logger of pino's shape; a pino logger is one. */
export interface SandboxLogger
  extends Record<'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent', LogMethod> {
  level: string
  child(fields: Record<string, unknown>, options?: object): SandboxLogger
}

/** Options of a sandbox. Those left out come from the fixture file's `options`, then from the defaults. */
export interface SandboxOptions {
  /** 0 picks a free port. Default 4010. */
  port?: number
  /** Default: loopback, IPv4 and IPv6. A host other than loopback needs a control token. */
  host?: string
  /**
   * The origin that clients see, if it is not the address listened on: behind a proxy, in Compose, with a mapped port. All URLs that the
   * sandbox publishes begin with it. `http` or `https`, without a path. Unless it is loopback, a control token is needed.
   */
  publicUrl?: string
  /** Serve https with a certificate made for it; clients have to trust the one at `credentials().ca_file`. */
  tls?: 'self-signed'
  /** PEM file of the certificate to serve https with. */
  tlsCert?: string
  /** PEM file of its key. */
  tlsKey?: string
  /** Path of a YAML or JSON file; default: the shipped fixtures/default.yaml. */
  fixtures?: string
  /** JSON-RPC of a real chain to fork: for the fixture's first forked chain, or the only chain it names. */
  forkUrl?: string
  /** Block to fork that chain at; default: the fixture's, then the latest. */
  forkBlockNumber?: number
  /** `0`, `2s`, `5s-30s`, `realistic`, or milliseconds. Default 2s. */
  confirmationDelay?: string | number
  /** Directory that keeps the state across restarts; made if missing. Default: nothing is written to disk. */
  dataDir?: string
  /** True if acknowledged writes must outlive a power cut: they are flushed to the disk before each answer. Default false. */
  fsync?: boolean
  /** Seed of every random choice; a whole number. Default: that of the data directory, or a fresh one. */
  seed?: number
  /** ISO 8601 moment at which the sandbox clock starts, frozen: with a seed, the same requests then give the same run. */
  clock?: string
  /** Most namespaces beside the default one. Default 1000. */
  maxNamespaces?: number
  /** Most Anvils at once; beyond that, the Anvil of an unused chain is ended for another. Default 64. */
  maxNodes?: number
  /** Time without use after which the chains of a namespace end their Anvil: `10m`, or milliseconds. Default 10m. */
  namespaceIdle?: string | number
  /** Most exchanges that each namespace keeps for `GET /_sandbox/requests` and the report; 0 records none. Default 10000. */
  recordExchanges?: number
  /** Most memory for these exchanges in each namespace: `64MiB`, or bytes; 0 records none. Default 64MiB. */
  recordBytes?: string | number
  /** Bearer token of the control interface; generated if the host is not loopback. */
  controlToken?: string
  /** Destination of the log; default: none. */
  logger?: SandboxLogger
}

/** The certificate for https: one made for the sandbox, or PEM files. */
export type TlsOption = 'self-signed' | { cert: string; key: string }

/** Options with every default filled in. */
export interface ResolvedOptions {
  port: number
  /** Undefined for loopback, IPv4 and IPv6. */
  host: string | undefined
  /** An origin. Undefined: the address listened on. */
  publicUrl: string | undefined
  /** Undefined for http. */
  tls: TlsOption | undefined
  /** True if only this machine can reach the sandbox. */
  local: boolean
  confirmationDelay: DurationRange
  dataDir: string | undefined
  fsync: boolean
  /** Seed to require; undefined for any. */
  seed: number | undefined
  /** Milliseconds since the Unix epoch; undefined for real time. */
  clock: number | undefined
  controlToken: string | undefined
  maxNamespaces: number
  maxNodes: number
  /** Milliseconds. */
  namespaceIdle: number
  /** Limits of the record of clients' requests. */
  recording: LogBounds
  /** Level that the fixture file sets; the caller supplies the log itself. */
  logLevel: string | undefined
}

/** The fixture file that ships with the package. */
export const DEFAULT_FIXTURES = fileURLToPath(new URL('fixtures/default.yaml', PACKAGE_ROOT))

const OPTIONS = {
  port: true,
  host: true,
  publicUrl: true,
  tls: true,
  tlsCert: true,
  tlsKey: true,
  fixtures: true,
  forkUrl: true,
  forkBlockNumber: true,
  confirmationDelay: true,
  dataDir: true,
  fsync: true,
  seed: true,
  clock: true,
  maxNamespaces: true,
  maxNodes: true,
  namespaceIdle: true,
  recordExchanges: true,
  recordBytes: true,
  controlToken: true,
  logger: true,
} satisfies Record<keyof SandboxOptions, true>

/** Fills in options: the given one, then the fixture file's, then the default. Throws OptionError. */
export function resolveOptions(given: SandboxOptions, fixture: FixtureOptions): ResolvedOptions {
  refuseUnknownNames(given, OPTIONS, 'a sandbox')
  const port = given.port ?? fixture.port ?? 4010
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new OptionError(`port must be a whole number from 0 to 65535; got ${port}`)
  }
  const seed = given.seed ?? fixture.seed
  if (seed !== undefined && (!Number.isInteger(seed) || seed < 0 || seed > MAX_SEED)) {
    throw new OptionError(`seed must be a whole number from 0 to ${MAX_SEED}; got ${seed}`)
  }
  if (given.logger !== undefined) refuseIncomplete(given.logger)
  const { host, publicUrl, local } = resolveAddress(given, fixture)
  if (given.controlToken === '') {
    throw new OptionError('controlToken must not be empty; leave it out for one that is made, or for none on loopback')
  }
  const controlToken = given.controlToken ?? (local ? undefined : SeededRandom.secret())
  return {
    port,
    host,
    publicUrl,
    tls: resolveTls(given),
    local,
    dataDir: given.dataDir,
    fsync: yesOrNo('fsync', given.fsync ?? fixture.fsync ?? false),
    seed,
    clock: given.clock === undefined ? undefined : resolveClock(given.clock),
    controlToken,
    maxNamespaces: wholeNumber('maxNamespaces', given.maxNamespaces ?? 1_000),
    maxNodes: atLeastOne('maxNodes', given.maxNodes ?? 64),
    namespaceIdle: idleTime(given.namespaceIdle ?? '10m'),
    recording: {
      maxExchanges: wholeNumber('recordExchanges', given.recordExchanges ?? 10_000),
      maxBytes: sizeOf(given.recordBytes ?? '64MiB'),
    },
    logLevel: fixture.log_level,
    confirmationDelay: resolveDelay(given.confirmationDelay ?? fixture.confirmation_delay),
  }
}

function yesOrNo(name: string, given: boolean): boolean {
  if (typeof given === 'boolean') return given
  throw new OptionError(`${name} must be true or false; got ${given}`)
}

function wholeNumber(name: string, given: number): number {
  if (Number.isSafeInteger(given) && given >= 0) return given
  throw new OptionError(`${name} must be a whole number from 0; got ${given}`)
}

function atLeastOne(name: string, given: number): number {
  if (Number.isSafeInteger(given) && given > 0) return given
  throw new OptionError(`${name} must be a whole number from 1; got ${given}`)
}

function idleTime(given: string | number): number {
  try {
    return typeof given === 'number' ? wholeNumber('namespaceIdle', given) : parseDuration(given)
  } catch (error) {
    if (error instanceof RangeError) throw new OptionError(`namespace idle: ${error.message}`)
    throw error
  }
}

function sizeOf(given: string | number): number {
  try {
    return typeof given === 'number' ? wholeNumber('recordBytes', given) : parseSize(given)
  } catch (error) {
    if (error instanceof UnreadableTextError) throw new OptionError(`record bytes: ${error.message}`)
    throw error
  }
}

function refuseIncomplete(logger: SandboxLogger): void {
  const methods = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const
  const own: unknown = logger
  if (typeof own !== 'object' || own === null) {
    throw new OptionError(`logger must be of pino's shape; got ${own}. Leave it out for none`)
  }
  const missing = methods.filter((name) => typeof logger[name] !== 'function')
  if (missing.length > 0) throw new OptionError(`logger must be of pino's shape; it lacks ${missing.join(', ')}`)
}

/** Start options on forking. Throws OptionError, which does not repeat the URL: it may hold a key. */
export function resolveFork({ forkUrl: url, forkBlockNumber: block }: SandboxOptions): ForkOptions {
  if (url !== undefined && !(/^https?:\/\/[^\s/]+\S*$/.test(url) && URL.canParse(url))) {
    throw new OptionError('--fork-url must be an http or https URL, such as https://mainnet.base.org')
  }
  if (block !== undefined && !(Number.isSafeInteger(block) && block >= 0)) {
    throw new OptionError(`--fork-block-number must be a whole number from 0; got ${block}`)
  }
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
  if (tls !== undefined && tls !== 'self-signed') throw new OptionError('--tls must be self-signed')
  if (cert === undefined && key === undefined) return tls
  if (tls !== undefined)
    throw new OptionError('--tls self-signed makes its own: leave out --tls-cert and --tls-key, or --tls')
  if (cert !== undefined && key !== undefined) return { cert, key }
  const [given, missing] = cert === undefined ? ['--tls-key', '--tls-cert'] : ['--tls-cert', '--tls-key']
  throw new OptionError(`${given} needs ${missing}: the certificate and its key are two PEM files`)
}

/** The origin of a URL. Throws OptionError, which does not repeat the URL: it may hold a password. */
function publicOrigin(text: string): string {
  const fix = 'give an origin such as https://sandbox.acme.test:4010'
  if (!/^https?:\/\/[^\s\\]+$/i.test(text) || !URL.canParse(text)) {
    throw new OptionError(`--public-url must be an http or https URL; ${fix}`)
  }
  const { origin, username, password, pathname, search, hash } = new URL(text)
  const excess = [
    [username || password, 'credentials'],
    [pathname !== '/', 'a path'],
    [search || text.includes('?'), 'a query'],
    [hash || text.includes('#'), 'a fragment'],
  ].flatMap(([there, what]) => (there ? [what] : []))
  if (excess.length === 0) return origin
  throw new OptionError(`--public-url must not have ${excess.join(' or ')}; ${fix}`)
}

/** The embedded chain's state is from the first seconds of 2025, and its time only moves forward. */
const EARLIEST = Date.UTC(2025, 0, 2)
const LATEST = Date.UTC(9000, 0, 1)

/** The moment at which a clock starts, in milliseconds since the Unix epoch. Throws OptionError. */
export function resolveClock(text: string): number {
  const time = parseMoment(text)
  if (time >= EARLIEST && time <= LATEST) return time
  throw new OptionError(
    `clock must be an ISO 8601 moment from 2025-01-02 on, such as 2030-01-01T00:00:00Z; got ${text}`,
  )
}

/** Parses a confirmation delay; a number is in milliseconds. Throws OptionError. */
export function resolveDelay(given: string | number = '2s'): DurationRange {
  if (typeof given === 'number') {
    if (!(given >= 0)) throw new OptionError(`confirmation delay must not be negative; got ${given}`)
    return { min: given, max: given }
  }
  try {
    return parseDurationRange(given)
  } catch (error) {
    if (error instanceof RangeError) throw new OptionError(`confirmation delay: ${error.message}`)
    throw error
  }
}
