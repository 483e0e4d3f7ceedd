import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SandboxClock } from '../../domain/clock.ts'
import { oneLine } from '../../support/foreign-text.ts'
import type { Logger } from '../../support/logger.ts'
import { SeededRandom } from '../../support/random.ts'
import { GAS_LIMIT } from '../history/checkpoint.ts'
import { RpcClient } from '../json-rpc/rpc-client.ts'
import { type AnvilGuard, orphanGuard } from './orphan-guard.ts'

/** Options with which an Anvil is started. */
export interface AnvilOptions {
  chainId: string
  /** Content of the genesis file. */
  genesis?: string
  /** URL that a fork reads from; it may contain a secret. */
  source?: string
  /** Resolves when the source has been asked for the first time, which is shortly before the process listens. Default: it is not known. */
  asked?: Promise<void>
  /** Additional command-line flags, such as those of a fork. */
  flags?: readonly string[]
  clock: SandboxClock
  log: Logger
  /** Called when the process has been spawned: while it comes up, the sandbox can do other work. */
  spawned?: (() => void) | undefined
}

/** Options of one attempt to start an Anvil. */
interface ProcessOptions extends Omit<AnvilOptions, 'genesis'> {
  /** Directory for temporary files. */
  directory: string
  guard: AnvilGuard
}

/** Flags of every Anvil: fees are zero, so that wallets need no ether; blocks are mined on demand only and hold hundreds of transfers. */
const FLAGS = [
  ...['--quiet', '--order', 'fifo', '--base-fee', '0', '--gas-price', '0', '--disable-min-priority-fee'],
  ...['--no-mining', '--max-transactions', '100000000', '--gas-limit', String(Number(GAS_LIMIT))],
  ...['--no-request-size-limit', '--no-cors', '--disable-console-log'],
]
/** Name of `source` on the command line. */
const SOURCE = 'source'

const START_TIMEOUT_MS = 20_000
const START_ATTEMPTS = 5
const STOP_TIMEOUT_MS = 700
const STDERR_KEPT = 4_000

/** Anvil did not start; the message contains its own error. */
export class AnvilStartError extends Error {
  override readonly name = 'AnvilStartError'
  readonly code = 'anvil_start_failed'

  /** @returns true if a signal ended it: another attempt may succeed */
  get killed(): boolean {
    return /^Anvil ended with SIG/.test(this.message)
  }
}

/**
 * A running Anvil. It listens on loopback, and is ready when it answers its first RPC call; its output is not read for that. Why this
 * is not `@viem/anvil`: docs/decisions/0001-own-anvil-launcher.md.
 */
export class AnvilProcess {
  /** Starts an Anvil. Throws {@link AnvilStartError} or `AnvilBinaryMissingError`. */
  static async start(options: AnvilOptions): Promise<AnvilProcess> {
    const binary = anvilBinary()
    const { genesis: _, ...kept } = options // not kept in memory: it is long, and on disk by then
    const directory = join(tmpdir(), `yield-sandbox-anvil-${SeededRandom.secret()}`)
    const guard = orphanGuard.guard(directory, (error) =>
      options.log.warn({ error: error.message }, 'no watchdog: if the sandbox is killed, its Anvil lives on'),
    )
    try {
      const flags = [...FLAGS, ...(await prepare(directory, options)), ...(options.flags ?? [])]
      for (let attempt = 1; ; attempt++) {
        const anvil = new AnvilProcess(binary, await loopbackAddress(), flags, { ...kept, directory, guard })
        options.spawned?.()
        try {
          await anvil.#ready()
          return anvil
        } catch (error) {
          await anvil.#kill()
          // In between, another process may have got the port.
          if (attempt === START_ATTEMPTS || !/address already in use/i.test(String(error))) throw error
        }
      }
    } catch (error) {
      await rm(directory, { recursive: true, force: true }).catch(() => undefined) // the thrown error has the reason
      guard.callOff()
      throw error
    }
  }

  readonly url: string
  /** Resolves when the process has ended, with the reason: its exit code or signal and the end of its stderr. */
  readonly exited: Promise<string>
  readonly #child: ChildProcess
  readonly #options: ProcessOptions
  #exit: string | undefined
  #stderr = ''

  private constructor(
    binary: string,
    { host, port }: LoopbackAddress,
    flags: readonly string[],
    options: ProcessOptions,
  ) {
    const { chainId, directory, guard } = options
    this.#options = options
    this.url = `http://${host}:${port}`
    const where = ['--host', host, '--port', String(port), '--chain-id', chainId, '--cache-path', directory]
    this.#child = spawnAnvil(binary, [...where, ...flags], directory)
    guard.watch(this.#child.pid)
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-STDERR_KEPT)
    })
    this.exited = new Promise((resolve) => {
      const gone = (how: string) => {
        this.#exit ??= `Anvil ${how}`
        resolve(this.#exit)
      }
      this.#child.once('exit', () => guard.watch(undefined))
      this.#child.once('error', (error) => gone(spawnFailure(binary, error)))
      this.#child.once('close', (code, signal) => {
        const refusal = refusalOfShell(code)
        if (refusal) gone(spawnFailure(binary, refusal))
        else gone(`ended with ${signal ?? `exit code ${code}`}${this.#stderr && `: ${endReason(this.#stderr)}`}`)
      })
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Reason why the process has ended; undefined while it runs. */
  get exit(): string | undefined {
    return this.#exit
  }

  /** Pauses the process until {@link resume}: connections stay open, but nothing is answered. Does nothing on Windows. */
  suspend(): void {
    if (this.#exit === undefined && process.platform !== 'win32') this.#child.kill('SIGSTOP')
  }

  /** Lets a suspended process go on. Does nothing on Windows. */
  resume(): void {
    if (this.#exit === undefined && process.platform !== 'win32') this.#child.kill('SIGCONT')
  }

  /** Kills the process at once. {@link AnvilProcess.stop} must still be called to remove its files. */
  kill(): void {
    if (this.#exit === undefined) this.#child.kill('SIGKILL')
  }

  /**
   * Ends the process, by force if it does not end within {@link STOP_TIMEOUT_MS}, and removes its temporary files. Leaves no timer
   * behind.
   */
  async stop(): Promise<void> {
    if (this.#exit === undefined) {
      this.#child.kill('SIGTERM')
      this.resume() // a suspended process would not react
      await Promise.race([this.exited, this.#options.clock.wallSleep(STOP_TIMEOUT_MS)])
    }
    await this.#kill()
    await rm(this.#options.directory, { recursive: true, force: true })
    this.#options.guard.callOff()
  }

  async #kill(): Promise<void> {
    this.kill()
    await this.exited
  }

  async #ready(): Promise<void> {
    const { clock, chainId, asked } = this.#options
    const rpc = new RpcClient({ chainId, url: this.url })
    const deadline = clock.wallNow() + START_TIMEOUT_MS
    const patience = new AbortController()
    try {
      // An attempt that is refused costs half a millisecond of processor time, which the process needs to come up.
      await Promise.race([asked, this.exited, clock.wallSleep(START_TIMEOUT_MS, patience.signal)])
      for (;;) {
        if (this.#exit !== undefined) throw new AnvilStartError(this.#exit)
        try {
          const version = await rpc.call<string>('web3_clientVersion')
          if (version === `anvil/v${ANVIL_VERSION}`) return
          throw new AnvilStartError(`this needs Anvil ${ANVIL_VERSION}; installed is ${version}. Fix: install again`)
        } catch (cause) {
          if (cause instanceof AnvilStartError) throw cause
          if (clock.wallNow() > deadline)
            throw new AnvilStartError(`Anvil did not start in time${ownObstacle()}`, { cause })
          await Promise.race([this.exited, clock.wallSleep(5)])
        }
      }
    } finally {
      patience.abort()
      rpc.close()
    }
  }
}

/** Makes Anvil's private directory with the files that it reads, and returns the flags that name them. Throws {@link AnvilStartError}. */
async function prepare(directory: string, { genesis, source }: AnvilOptions): Promise<string[]> {
  const write = async (name: string, text: string) => {
    const path = join(directory, name)
    await writeFile(path, text, { mode: 0o600, flag: 'wx' })
    return path
  }
  try {
    await mkdir(directory, { mode: 0o700 })
    await write(AUTHORITIES, NOBODY)
    // The command line has only a name for the URL: its path is a secret, and every program of this machine sees command lines.
    if (source !== undefined) await write('foundry.toml', `[rpc_endpoints]\n${SOURCE} = ${JSON.stringify(source)}\n`)
    const fork = source === undefined ? [] : ['--fork-url', SOURCE]
    return genesis === undefined ? fork : [...fork, '--init', await write('genesis.json', genesis)]
  } catch (error) {
    throw new AnvilStartError(temporaryFailure(error as Error), { cause: error })
  }
}

/** Name of the file with all certificate authorities that Anvil trusts. */
const AUTHORITIES = 'ca.pem'
/**
 * The only one: its key was deleted. Anvil asks nothing but this machine, without TLS. It would otherwise read all authorities of the system
 * at each start, a sixth of what that costs, and would not start on a system without any, but it needs one.
 */
const NOBODY = `-----BEGIN CERTIFICATE-----
MIIBeDCCAR+gAwIBAgIUC9Vm0VDxJFZE/biOCr7qBdZEoLswCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGbm9ib2R5MCAXDTI2MTEyODEzMTkyNVoYDzIxMjYxMTA0MTMx
OTI1WjARMQ8wDQYDVQQDDAZub2JvZHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AAS466fmXTcHt8MKSEUwqS7RvCAKbeIegirPr4Y8PLdpbHoY3WPjeh8LHgCi2fjg
fOhiL3yN4ypChxMFzpNRCzXho1MwUTAdBgNVHQ4EFgQUY6mGh1k9R/XwDV8avuHG
3RvIaZswHwYDVR0jBBgwFoAUY6mGh1k9R/XwDV8avuHG3RvIaZswDwYDVR0TAQH/
BAUwAwEB/zAKBggqhkjOPQQDAgNHADBEAiAGVM8fqMi3Zmh4sgFy0EJrzV6mNdum
Ik3sLlH40zbG5gIgTcrMLsjW9h2Nw8DkxBfOhmtUXT6bHWnqLXzWQkTnt7s=
-----END CERTIFICATE-----
`

/** An address for a server that only this machine can reach. */
interface LoopbackAddress {
  host: string
  port: number
}

const USUAL = '127.0.0.1'

/**
 * Finds a free port of a random loopback address, so that web pages cannot find the server: Linux has 16 million such addresses.
 * Uses 127.0.0.1 on other platforms, and if that is the only one that the system has.
 */
export async function loopbackAddress(platform: string = process.platform): Promise<LoopbackAddress> {
  if (platform !== 'linux') return freePort(USUAL)
  const [second, third, fourth] = Buffer.from(SeededRandom.secret(), 'base64url')
  return freePort(`127.${second}.${third}.${1 + ((fourth ?? 0) % 254)}`).catch(() => freePort(USUAL))
}

async function freePort(host: string): Promise<LoopbackAddress> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
  return { host, port: address.port }
}

/** Limit of Anvil's memory in kilobytes, some fifteen times what it needs: traces of hostile transactions would fill any machine. */
const MOST_DATA = 2 * 1024 * 1024

/**
 * Sets the limit of memory, and makes this process the first to be killed if the machine runs out of memory, since an Anvil can be
 * replaced and the sandbox cannot. Then becomes Anvil.
 */
const LIMITED = `{ echo 1000 >/proc/$$/oom_score_adj; ulimit -d ${MOST_DATA}; } 2>/dev/null; exec "$0" "$@"`

/**
 * Spawns Anvil in its private directory, which is also its home, and without our environment: the user's configuration must not
 * affect it.
 */
function spawnAnvil(binary: string, args: readonly string[], directory: string): ChildProcess {
  const linux = process.platform === 'linux'
  return spawn(linux ? '/bin/sh' : binary, linux ? ['-c', LIMITED, binary, ...args] : [...args], {
    cwd: directory,
    env: { HOME: directory, SSL_CERT_FILE: join(directory, AUTHORITIES), NO_COLOR: '1', RUST_BACKTRACE: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
    // Outside the terminal's process group: Ctrl-C must reach the sandbox alone, which then stops Anvil properly.
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
}

/** Converts the exit code (POSIX) of a shell that could not become Anvil into the error that Node has for the same cause. */
function refusalOfShell(code: number | null): NodeJS.ErrnoException | undefined {
  if (code === 127) return Object.assign(new Error('there is no such file'), { code: 'ENOENT' })
  return code === 126 ? Object.assign(new Error('it may not be executed'), { code: 'EACCES' }) : undefined
}

const NEEDS = 'Anvil needs glibc 2.35 or later'
const FIX = 'Fix: use a system that has it, such as Ubuntu 22.04, Debian 12 or the image node:22-slim.'

/** Describes why the system did not run Anvil's binary, and the fix. */
function spawnFailure(binary: string, { code, message }: NodeJS.ErrnoException): string {
  // The system reports a missing loader with the same code as a missing file.
  if (code === 'ENOENT' && existsSync(binary)) return `could not be started: its loader is missing. ${libcNeeded()}`
  if (code === 'EACCES') {
    return `could not be started: ${binary} may not be executed. Fix: allow it, also by the mount (noexec).`
  }
  return `could not be started: ${message}`
}

/** Text before and after the message of a crash of Anvil: place in its code, advice, backtrace. */
const BEFORE = /^[\s\S]*The application panicked \(crashed\)\S*\s*Message:/
const AFTER = /\s*(Location:|Backtrace omitted|This is a bug|━+ BACKTRACE)[\s\S]*$/
/** Rust's text for EMFILE, which comes only after a long description of the attempt. */
const TOO_MANY_FILES = /\(os error 24\)/
const FILES_OPEN = 'too many files are open. Fix: raise the limit of open files (ulimit -n)'
/** Limit of open files below which a sandbox cannot start. */
const FEWEST_FILES = 64
/** Characters of a message that is still readable with the text around it. */
const MOST_WORDS = 160

/** Makes one clean line of the stderr of an Anvil that ended, or names the cause if the text does not. */
function endReason(stderr: string): string {
  if (/version `GLIBC_[\d.]+' not found/.test(stderr)) return libcNeeded()
  // If our process cannot open a connection, Anvil only reports that nobody answers.
  if (TOO_MANY_FILES.test(stderr) || mostOpenFiles() < FEWEST_FILES) return FILES_OPEN
  const words = stderr.replace(BEFORE, '').replace(AFTER, '')
  return oneLine(words.replace(/\bhttps?:\/\/[^\s)]+/g, '…'), MOST_WORDS) // a URL may contain a secret
}

/** The reason on our side why an Anvil that runs cannot be reached, if there is one. */
function ownObstacle(): string {
  return mostOpenFiles() < FEWEST_FILES ? `: ${FILES_OPEN}` : ''
}

/** Describes why Anvil's files cannot be made, and the fix. */
function temporaryFailure({ message }: Error): string {
  return `Anvil's files cannot be made in the temporary directory ${tmpdir()} (${message}). Fix: make room there, let it be written, or set TMPDIR to another directory.`
}

function libcNeeded(): string {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  const has = header.glibcVersionRuntime
  return `${NEEDS}; ${has === undefined ? 'this system has another C library, such as musl' : `this system has ${has}`}. ${FIX}`
}

/** Number of files that a process may have open on this system; NaN if there is no limit. */
function mostOpenFiles(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } }
  return Number(userLimits?.open_files?.soft ?? Number.NaN)
}

/** Foundry's package with the binary, by Node's platform and architecture. */
const PACKAGES: Record<string, string> = {
  'linux-x64': '@foundry-rs/anvil-linux-amd64',
  'linux-arm64': '@foundry-rs/anvil-linux-arm64',
  'darwin-x64': '@foundry-rs/anvil-darwin-amd64',
  'darwin-arm64': '@foundry-rs/anvil-darwin-arm64',
  'win32-x64': '@foundry-rs/anvil-win32-amd64',
}

/** Optional dependencies, of which a machine gets the one with its binary. None of them runs a script on installation. */
export const ANVIL_PACKAGES = Object.values(PACKAGES)

/** The version that everything is tested with; a package manager may have installed another one. */
export const ANVIL_VERSION = '1.7.1'

/** Anvil's binary for this machine is not installed. The message says which package is missing and how to get it. */
export class AnvilBinaryMissingError extends Error {
  override readonly name = 'AnvilBinaryMissingError'
  readonly code = 'anvil_binary_missing'
}

/** Finds the Anvil binary in the package that npm chose for this machine. Throws {@link AnvilBinaryMissingError}. */
export function anvilBinary(platform: string = process.platform, arch: string = process.arch): string {
  const machine = `${platform}-${arch}`
  const name = PACKAGES[machine]
  if (!name) {
    throw new AnvilBinaryMissingError(
      `there is no Anvil for ${machine}; it exists for ${Object.keys(PACKAGES).join(', ')}`,
    )
  }
  const require = createRequire(import.meta.url)
  try {
    return require.resolve(`${name}/bin/${platform === 'win32' ? 'anvil.exe' : 'anvil'}`)
  } catch (cause) {
    throw new AnvilBinaryMissingError(
      `Anvil's binary for ${machine} is not installed: the optional package ${name} is missing; ` +
        'install again with optional dependencies (npm install --include=optional)',
      { cause },
    )
  }
}
