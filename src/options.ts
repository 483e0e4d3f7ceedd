import { type TSchema, Type } from '@sinclair/typebox'
import { FLEET_OPTIONS, type FleetOptions } from './fleet-options.ts'
import { databaseUrl, forkedUrl, notEmpty, parseBlockTime, parseClockStart, publicOrigin } from './option-values.ts'
import { parseDuration, parseDurationRange, parseSize } from './support/quantities.ts'
import { MAX_SEED } from './support/random.ts'

/*
 * The options of a start stand here alone, with their values, defaults, flags and descriptions: the flags of `start`, section `options` of a
 * fixture file and docs/options.md are made from the tables below.
 */

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
export interface SandboxOptions extends FleetOptions {
  /**
   * 0 picks a free port: take it in tests, so that several sandboxes can run at once. `auto` picks one only if the fixture's port, or
   * 4010, is taken.
   * @defaultValue `4010`
   */
  port?: number | 'auto'
  /**
   * A host other than loopback needs a control token. Leave it out unless other machines or containers send requests.
   * @defaultValue loopback, 127.0.0.1 and ::1
   */
  host?: string
  /**
   * The origin clients see: `http` or `https`, without a path. Every URL the sandbox tells is made from it. Unless it is loopback, a
   * control token is needed. Set it only where clients reach the sandbox by another address: behind a proxy, in Compose, with a mapped
   * port.
   * @defaultValue the address it listens on
   */
  publicUrl?: string
  /**
   * Serve https with a certificate made for it; `credentials().ca_file` is what clients have to trust. Leave it out when you give a
   * certificate of yours.
   * @defaultValue http
   */
  tls?: 'self-signed'
  /**
   * PEM file of the certificate to serve https with; needs `tlsKey`.
   * @defaultValue http
   */
  tlsCert?: string
  /**
   * PEM file of its key.
   * @defaultValue http
   */
  tlsKey?: string
  /**
   * Path of a YAML or JSON file.
   * @defaultValue the shipped fixtures/default.yaml
   */
  fixtures?: string
  /**
   * JSON-RPC of a real chain to fork: for the fixture's first forked chain, or the only chain it names. It may hold an API key: no
   * message repeats it.
   * @defaultValue the fixture's
   */
  forkUrl?: string
  /**
   * Block to fork that chain at. Set it where a run has to be the same tomorrow; the node behind `forkUrl` then has to keep old states.
   * @defaultValue the fixture's, else the latest
   */
  forkBlockNumber?: number
  /**
   * How long a transfer is held: `0`, `2s`, a range `5s-30s`, `realistic`, which is that range, or milliseconds. 0 makes tests fast; leave
   * it longer where the client's patience is tested.
   * @defaultValue `2s`
   */
  confirmationDelay?: string | number
  /**
   * How far business time moves on before whoever reads the latest block, or is subscribed to new ones, has another one mined. A chain that
   * nobody looks at mines for transfers alone. Longer than a second only for clients that must see how they wait for confirmations.
   * @defaultValue `1s`
   */
  blockTime?: string | number
  /**
   * Directory that keeps the state across restarts; made if it is not there. Leave it out in tests: each start is then a fresh one.
   * @defaultValue nothing is written to disk
   */
  dataDir?: string
  /**
   * PostgreSQL database that keeps the state instead: `postgres://user@host/name`. If the URL has a password, give it by the environment
   * variable: every user of a machine can read the flags of a process. No message repeats it. Leave it out for a sandbox of one process.
   * @defaultValue none
   */
  database?: string
  /**
   * Path of a file that `snapshot()` or `yield-sandbox snapshot save` gave, to begin with that state: end users, money, chains, clock and
   * seed. Leave it out where a test starts from the fixture file. Together with `dataDir`, the directory must not hold a state yet.
   * @defaultValue the fixture file alone
   */
  snapshot?: string
  /**
   * True if what is acknowledged has to outlive a power cut: the disk is told to write it before each answer, which makes answers slower.
   * It outlives the end of the process without it. Without `dataDir` it has no effect.
   * @defaultValue `false`
   */
  fsync?: boolean
  /**
   * Every random choice derives from it; a whole number.
   * @defaultValue that of the data directory, else a fresh one
   */
  seed?: number
  /**
   * ISO 8601 moment the sandbox clock starts at, frozen: with a seed, the same requests then give the same run. Leave it out where time has
   * to pass by itself.
   * @defaultValue real time
   */
  clock?: string
  /**
   * How many namespaces there may be beside the default one.
   * @defaultValue `1000`
   */
  maxNamespaces?: number
  /**
   * How many Anvils there may be at once; one of a chain that nobody uses is ended for another. Each takes memory: lower it on a small
   * machine.
   * @defaultValue `64`
   */
  maxNodes?: number
  /**
   * How long a namespace may be unused before its chains end their Anvil: `10m`, or milliseconds.
   * @defaultValue `10m`
   */
  namespaceIdle?: string | number
  /**
   * How long a namespace may be unused before it is deleted with all that is in it, also from the data directory: `24h`, or milliseconds;
   * 0 for never. Set it where jobs that are cut short leave theirs behind. It does not concern the default one.
   * @defaultValue `0`
   */
  namespaceExpiry?: string | number
  /**
   * How many requests a second each namespace takes, by the API, the token endpoint and JSON-RPC; those beyond are answered 429. 0 for any
   * number. Set it where teams share a machine; with it, a report that was cut short by it is inconclusive.
   * @defaultValue `0`
   */
  quotaRequestsPerSecond?: number
  /**
   * How large the ledger of each namespace may become before it takes no more writes, which are answered 503: `64MiB`, or bytes; 0 for any
   * size.
   * @defaultValue `0`
   */
  quotaLedgerBytes?: string | number
  /**
   * How many Anvils each namespace but the default one may have at once; 0 for as many as `maxNodes` lets it have. Not less than the number
   * of its chains that one request needs.
   * @defaultValue `0`
   */
  quotaAnvils?: number
  /**
   * How long the sandbox may be unused before it ends: `8h`, or milliseconds; 0 for ever. Set it where nobody may be left to stop it.
   * @defaultValue `0`
   */
  idleExit?: string | number
  /**
   * How many exchanges each namespace keeps for `GET /_sandbox/requests` and the report. 0 records none: there is then nothing to report on.
   * @defaultValue `10000`
   */
  recordExchanges?: number
  /**
   * How much memory they may take in each namespace: `64MiB`, or bytes; 0 records none.
   * @defaultValue `64MiB`
   */
  recordBytes?: string | number
  /**
   * Bearer token of the control interface. Leave it out on a machine of your own, and where the generated one will do: `credentials()` holds
   * it.
   * @defaultValue none on loopback, else a generated one
   */
  controlToken?: string
  /**
   * True if a browser finds the inspector at the sandbox's address. Without it, a browser is led to `/docs`.
   * @defaultValue `true`
   */
  inspector?: boolean
  /**
   * Where the log goes.
   * @defaultValue nowhere
   */
  logger?: SandboxLogger
}

/** How one option is given, checked and described. */
export interface StartOption {
  /** Type and range of its values. A `title` completes "must be …", and the first of `examples` is what a refusal proposes. */
  schema: TSchema
  /** Reads a value that is a text. Throws UnreadableTextError. */
  parse?(text: string): unknown
  /** As commander reads it, `--port <n>`; empty for what code alone can give. */
  flag: string
  /** Its name in section `options` of a fixture file, if it may stand there. */
  fixture?: string
  /** The value when none is given. */
  default?: string | number | boolean
  /** The default in words, where there is no `default` value. */
  otherwise?: string
  /** For the help and the documentation: neither a capital letter nor a full stop. */
  description: string
  /** True for a value that no message repeats. */
  secret?: true
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

const path = (of: string) => Type.String({ title: `the path of a ${of}`, minLength: 1 })
const count = (minimum: number) => Type.Integer({ minimum })

/** The options of {@link SandboxOptions}. */
export const SANDBOX_OPTIONS = {
  port: {
    schema: Type.Union([Type.Integer({ minimum: 0, maximum: 65_535 }), Type.Literal('auto')], {
      title: 'a whole number from 0 to 65535, or auto',
      examples: [4010],
    }),
    flag: '--port <n>',
    fixture: 'port',
    default: 4010,
    description: 'port to listen on; 0 picks a free one, auto does so if the default one is taken',
  },
  host: {
    schema: Type.String({ title: 'a host name or address', pattern: '^[^\\s/]{1,255}$', examples: ['127.0.0.1'] }),
    flag: '--host <address>',
    fixture: 'host',
    otherwise: 'loopback, 127.0.0.1 and ::1',
    description: 'address to listen on; any but loopback protects the control interface with a token',
  },
  publicUrl: {
    schema: Type.String({ title: 'an http or https URL' }),
    parse: publicOrigin,
    flag: '--public-url <url>',
    otherwise: 'the address it listens on',
    description: 'origin clients see',
    secret: true,
  },
  tls: {
    schema: Type.Literal('self-signed'),
    flag: '--tls <how>',
    otherwise: 'http',
    description: 'serve https with a certificate made for it, and print the CA file to trust',
  },
  tlsCert: {
    schema: path('PEM file'),
    flag: '--tls-cert <file>',
    otherwise: 'http',
    description: 'serve https with this certificate, PEM',
  },
  tlsKey: {
    schema: path('PEM file'),
    flag: '--tls-key <file>',
    otherwise: 'http',
    description: "the certificate's key, PEM",
  },
  fixtures: {
    schema: path('fixture file'),
    flag: '--fixtures <file>',
    otherwise: 'the shipped fixtures/default.yaml',
    description: 'YAML or JSON file to start with',
  },
  forkUrl: {
    schema: Type.String({ title: 'an http or https URL' }),
    parse: forkedUrl,
    flag: '--fork-url <url>',
    otherwise: "the fixture's",
    description: "JSON-RPC of a real chain for the fixture's forked chain",
    secret: true,
  },
  forkBlockNumber: {
    schema: Type.Integer({ title: 'a whole number from 0', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    flag: '--fork-block-number <n>',
    otherwise: "the fixture's, else the latest",
    description: 'block to fork that chain at',
  },
  confirmationDelay: {
    schema: Type.Union([Type.String(), Type.Number({ title: 'milliseconds from 0', minimum: 0 })], {
      title: 'a duration such as 0, 2s, 5s-30s or realistic, or milliseconds',
    }),
    parse: parseDurationRange,
    flag: '--confirmation-delay <d>',
    fixture: 'confirmation_delay',
    default: '2s',
    description: 'how long a transfer is held: 0, 2s, a range 5s-30s, or realistic, which is that range',
  },
  blockTime: {
    schema: Type.Union([Type.String(), count(1_000)], { title: 'a duration from 1s, or milliseconds' }),
    parse: parseBlockTime,
    flag: '--block-time <d>',
    default: '1s',
    description:
      'how far the clock moves on before whoever reads the chain, or is subscribed to it, has another block mined',
  },
  dataDir: {
    schema: path('directory'),
    flag: '--data-dir <dir>',
    otherwise: 'nothing is written to disk',
    description: 'keep the state across restarts and crashes',
  },
  database: {
    schema: Type.String({ title: 'a postgres URL' }),
    parse: databaseUrl,
    flag: '--database <url>',
    otherwise: 'none',
    description: 'PostgreSQL that keeps the state instead; give a URL with a password by the environment',
    secret: true,
  },
  ...FLEET_OPTIONS,
  snapshot: {
    schema: path('snapshot'),
    flag: '--snapshot <file>',
    otherwise: 'the fixture file alone',
    description: 'begin with the state that was saved in this file',
  },
  fsync: {
    schema: Type.Boolean({ examples: [true] }),
    flag: '--fsync',
    fixture: 'fsync',
    default: false,
    description: 'what a data directory keeps outlives a power cut as well; slower',
  },
  seed: {
    schema: Type.Integer({ minimum: 0, maximum: MAX_SEED, examples: [1] }),
    flag: '--seed <n>',
    fixture: 'seed',
    otherwise: 'that of the data directory, else a fresh one',
    description: 'every random choice and every wallet derives from it',
  },
  clock: {
    schema: Type.String({ title: 'an ISO 8601 moment', examples: ['2030-01-01T00:00:00Z'] }),
    parse: parseClockStart,
    flag: '--clock <iso>',
    otherwise: 'real time',
    description: 'moment the sandbox clock starts at, frozen: with a seed, the same requests then give the same run',
  },
  maxNamespaces: {
    schema: count(0),
    flag: '--max-namespaces <n>',
    default: 1_000,
    description: 'how many namespaces there may be beside the default one',
  },
  maxNodes: {
    schema: count(1),
    flag: '--max-nodes <n>',
    default: 64,
    description: 'how many Anvils there may be at once',
  },
  namespaceIdle: {
    schema: Type.Union([Type.String(), count(0)], { title: 'a duration such as 10m, or milliseconds' }),
    parse: parseDuration,
    flag: '--namespace-idle <d>',
    default: '10m',
    description: 'how long a namespace may be unused before its Anvils end',
  },
  namespaceExpiry: {
    schema: Type.Union([Type.String(), count(0)], { title: 'a duration such as 24h, or milliseconds' }),
    parse: parseDuration,
    flag: '--namespace-expiry <d>',
    default: '0',
    description: 'how long a namespace may be unused before it is deleted; 0 for ever',
  },
  quotaRequestsPerSecond: {
    schema: count(0),
    flag: '--quota-requests-per-second <n>',
    default: 0,
    description: 'how many requests a second each namespace takes; those beyond are answered 429; 0 for any number',
  },
  quotaLedgerBytes: {
    schema: Type.Union([Type.String(), count(0)], { title: 'a size such as 64MiB, or bytes' }),
    parse: parseSize,
    flag: '--quota-ledger-bytes <size>',
    default: '0',
    description: 'how large the ledger of each namespace may become before writes are answered 503; 0 for any size',
  },
  quotaAnvils: {
    schema: count(0),
    flag: '--quota-anvils <n>',
    default: 0,
    description: 'how many Anvils each namespace but the default one may have at once; 0 for any number',
  },
  idleExit: {
    schema: Type.Union([Type.String(), count(0)], { title: 'a duration such as 8h, or milliseconds' }),
    parse: parseDuration,
    flag: '--idle-exit <d>',
    default: '0',
    description: 'how long it may be unused before it ends; 0 for ever (with --background: 8h)',
  },
  recordExchanges: {
    schema: count(0),
    flag: '--record-exchanges <n>',
    default: 10_000,
    description: 'how many exchanges each namespace keeps; 0 records none, and there is nothing to report on',
  },
  recordBytes: {
    schema: Type.Union([Type.String(), count(0)], { title: 'a size such as 64MiB, or bytes' }),
    parse: parseSize,
    flag: '--record-bytes <size>',
    default: '64MiB',
    description: 'how much memory the exchanges of a namespace may take, roughly: 512KiB, 1GB; 0 records none',
  },
  controlToken: {
    schema: Type.String(),
    parse: notEmpty,
    flag: '--control-token <t>',
    otherwise: 'none on loopback, else a generated one',
    description: 'bearer token of the control interface',
    secret: true,
  },
  inspector: {
    schema: Type.Boolean({ examples: [false] }),
    flag: '--no-inspector',
    default: true,
    description: 'the inspector at the address of the sandbox; with --no-inspector, a browser is led to /docs',
  },
  logger: {
    schema: Type.Unknown(),
    flag: '',
    otherwise: 'nowhere',
    description: "where the log goes: a logger of pino's shape",
  },
} satisfies Record<keyof SandboxOptions, StartOption>

/** Options of the command `start` alone: they say how it prints. */
const COMMAND_OPTIONS = {
  background: {
    schema: Type.Boolean(),
    flag: '--background',
    default: false,
    description: 'start it, print the connection, give the shell back; commands of this folder then find it',
  },
  json: {
    schema: Type.Boolean(),
    flag: '--json',
    default: false,
    description: 'one JSON line on stdout when ready: the object of GET /_sandbox/credentials',
  },
  logLevel: {
    schema: Type.Union(LOG_LEVELS.map((level) => Type.Literal(level))),
    flag: '--log-level <level>',
    fixture: 'log_level',
    default: 'info',
    description: 'how much to log, on stderr',
  },
  quiet: {
    schema: Type.Boolean(),
    flag: '--quiet',
    default: false,
    description: 'print nothing but errors',
  },
} satisfies Record<string, StartOption>

/** Every option of a start. */
export const START_OPTIONS = { ...SANDBOX_OPTIONS, ...COMMAND_OPTIONS }

/** The environment variable that gives an option: YIELD_SANDBOX_DATA_DIR for `dataDir`. It says no where the flag does. */
export function environmentOf(name: keyof typeof START_OPTIONS): string {
  const no = START_OPTIONS[name].flag.startsWith('--no-') ? 'NO_' : ''
  return `YIELD_SANDBOX_${no}${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`
}

/** Returns the default of an option in words. */
export function defaultOf(option: StartOption): string {
  return String(option.default ?? option.otherwise)
}
