import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SandboxClock } from '../../domain/clock.ts'
import { oneLine } from '../../support/foreign-text.ts'
import type { Logger } from '../../support/logger.ts'
import { SeededRandom } from '../../support/random.ts'
import { GAS_LIMIT } from '../history/checkpoint.ts'
import { RpcClient } from '../json-rpc/rpc-client.ts'
import { ANVIL_VERSION, anvilBinary } from './anvil-binary.ts'

/** What an Anvil is started with. */
export interface AnvilOptions {
  chainId: string
  /** A genesis file's content. */
  genesis?: string
  /** Where a fork reads from: a URL that may hold a secret. */
  source?: string
  /** More command-line flags, such as those of a fork. */
  flags?: readonly string[]
  clock: SandboxClock
  log: Logger
  /** Called when the process has been started: it comes up by itself, while this one does something else. */
  spawned?: (() => void) | undefined
}

/** What one attempt works with, beside what was asked for. */
interface ProcessOptions extends Omit<AnvilOptions, 'genesis'> {
  /** For temporary files. */
  directory: string
  guard: OrphanGuard
}

/**
 * Zero fees, so that wallets need no ether. Blocks are mined on demand only, and may hold hundreds of transfers.
 */
const FLAGS = [
  ...['--quiet', '--order', 'fifo', '--base-fee', '0', '--gas-price', '0', '--disable-min-priority-fee'],
  ...['--no-mining', '--max-transactions', '100000000', '--gas-limit', String(Number(GAS_LIMIT))],
  ...['--no-request-size-limit', '--no-cors', '--disable-console-log'],
]
/** What `source` is called on the command line. */
const SOURCE = 'source'

const START_TIMEOUT_MS = 20_000
const START_ATTEMPTS = 5
const STOP_TIMEOUT_MS = 700
const STDERR_KEPT = 4_000

/** Anvil did not start, and why by its own words. */
export class AnvilStartError extends Error {
  override readonly name = 'AnvilStartError'
  readonly code = 'anvil_start_failed'

  /** Whether somebody killed it: another one may well start. */
  get killed(): boolean {
    return /^Anvil ended with SIG/.test(this.message)
  }
}

/**
 * A running Anvil. Listens where only this machine reaches it; ready by its first RPC answer, never by what it prints. Why this
 * is not `@viem/anvil`: docs/decisions/0001-own-anvil-launcher.md.
 */
export class AnvilProcess {
  /** Starts one. Throws {@link AnvilStartError} or `AnvilBinaryMissingError`. */
  static async start(options: AnvilOptions): Promise<AnvilProcess> {
    const binary = anvilBinary()
    const { genesis: _, ...kept } = options // it is long, and on disk by then
    const directory = join(tmpdir(), `yield-sandbox-anvil-${SeededRandom.secret()}`)
    const guard = guardAgainstOrphan(directory, (error) =>
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
          // Another process was given the port in between.
          if (attempt === START_ATTEMPTS || !/address already in use/i.test(String(error))) throw error
        }
      }
    } catch (error) {
      await rm(directory, { recursive: true, force: true }).catch(() => undefined) // the error says what is wrong there
      guard.callOff()
      throw error
    }
  }

  readonly url: string
  /** Resolves when the process is gone, with why: its exit code or signal and the end of its stderr. */
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
        guard.watch(undefined)
        resolve(this.#exit)
      }
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

  /** Why it is gone; undefined while it runs. */
  get exit(): string | undefined {
    return this.#exit
  }

  /** Stops it in its tracks until {@link resume}: connections stand, nothing is answered. Not on Windows, which cannot. */
  suspend(): void {
    if (this.#exit === undefined && process.platform !== 'win32') this.#child.kill('SIGSTOP')
  }

  /** Lets it go on. */
  resume(): void {
    if (this.#exit === undefined && process.platform !== 'win32') this.#child.kill('SIGCONT')
  }

  /** Ends it at once; {@link AnvilProcess.stop} still removes its files. */
  kill(): void {
    if (this.#exit === undefined) this.#child.kill('SIGKILL')
  }

  /** Ends it, with force if it does not heed in time, and removes its temporary files. Leaves no timer behind. */
  async stop(): Promise<void> {
    if (this.#exit === undefined) {
      this.#child.kill('SIGTERM')
      this.resume() // suspended, it would not heed
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
    const { clock, chainId } = this.#options
    const rpc = new RpcClient({ chainId, url: this.url })
    const deadline = clock.wallNow() + START_TIMEOUT_MS
    try {
      for (;;) {
        if (this.#exit !== undefined) throw new AnvilStartError(this.#exit)
        try {
          const version = await rpc.call<string>('web3_clientVersion')
          if (version === `anvil/v${ANVIL_VERSION}`) return
          throw new AnvilStartError(`this needs Anvil ${ANVIL_VERSION}; installed is ${version}. Fix: install again`)
        } catch (cause) {
          if (cause instanceof AnvilStartError) throw cause
          if (clock.wallNow() > deadline) throw new AnvilStartError(`Anvil did not start in time`, { cause })
          await Promise.race([this.exited, clock.wallSleep(5)])
        }
      }
    } finally {
      rpc.close()
    }
  }
}

/** Makes Anvil's directory, for us alone, with what it reads there, and returns the flags that name it. */
async function prepare(directory: string, { genesis, source }: AnvilOptions): Promise<string[]> {
  const write = async (name: string, text: string) => {
    const path = join(directory, name)
    await writeFile(path, text, { mode: 0o600, flag: 'wx' })
    return path
  }
  try {
    await mkdir(directory, { mode: 0o700 })
    // By another name: its path is a secret, and every program of this machine sees the command line.
    if (source !== undefined) await write('foundry.toml', `[rpc_endpoints]\n${SOURCE} = ${JSON.stringify(source)}\n`)
    const fork = source === undefined ? [] : ['--fork-url', SOURCE]
    return genesis === undefined ? fork : [...fork, '--init', await write('genesis.json', genesis)]
  } catch (error) {
    throw new AnvilStartError(temporaryFailure(error as Error), { cause: error })
  }
}

/** Where a server can listen that only this machine reaches. */
interface LoopbackAddress {
  host: string
  port: number
}

const USUAL = '127.0.0.1'

/**
 * A free port of an address nobody can guess, so that no web page finds what listens there: Linux has 16 million of them.
 * Elsewhere, and where the system has only the usual one, of that.
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

// Both read process ids from their standard input, the last one counts, until its end: the system closes it however we die.
// Then they end that process, and only then, within a second, remove the directory: a process on its way out may still
// write there.
const SHELL = `pid=; while read -r line; do pid=$line; done
if [ -n "$pid" ]; then kill -9 "$pid"; n=0
while kill -0 "$pid" 2>/dev/null && [ $n -lt 20 ]; do n=$((n+1)); sleep 0.05; done; fi; rm -rf "$0"`
const SCRIPT = `let text = ''
process.stdin.on('data', (chunk) => { text += chunk }).on('end', () => {
  const pid = Number(text.split('\\n').at(-2))
  if (pid) try { process.kill(pid, 'SIGKILL') } catch {}
  require('node:fs').rmSync(process.argv[1], { recursive: true, force: true, maxRetries: 10 })
})`

/** What ends an Anvil and removes its files, should we vanish without saying goodbye. */
interface OrphanGuard {
  /** From now on this process is to be ended; undefined for none, as soon as it is known to be gone: its number can be used anew. */
  watch(pid: number | undefined): void
  callOff(): void
}

/**
 * Starts a small process that outlives ours and, should ours be killed or crash, kills the process it was told of and
 * removes `directory`. Start it before either is made.
 */
function guardAgainstOrphan(directory: string, onFailure: (error: Error) => void): OrphanGuard {
  const [command, args] = process.platform === 'win32' ? [process.execPath, ['-e', SCRIPT]] : ['sh', ['-c', SHELL]]
  const guard = spawn(command, [...args, directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // out of the terminal's process group, so that Ctrl-C does not end it before us
    windowsHide: true,
    cwd: '/',
  })
  guard.on('error', onFailure)
  guard.unref()
  if ('unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref()
  guard.stdin.on('error', () => {}) // the guard was called off
  return {
    watch: (pid) => guard.stdin.write(`${pid ?? ''}\n`),
    callOff: () => {
      guard.kill('SIGKILL')
      guard.stdin.destroy()
    },
  }
}

/** Kilobytes of data that Anvil may have, some fifteen times what it needs: traces of hostile transactions fill any machine. */
const MOST_DATA = 2 * 1024 * 1024

/**
 * Sets Anvil's limit of memory, and makes it the first to go should the machine's run out: it is replaced, we are not. Then
 * becomes Anvil.
 */
const LIMITED = `{ echo 1000 >/proc/$$/oom_score_adj; ulimit -d ${MOST_DATA}; } 2>/dev/null; exec "$0" "$@"`

/**
 * Starts Anvil in a directory of its own, which is its home as well: neither the configuration of whoever started us nor
 * their environment is its business.
 */
function spawnAnvil(binary: string, args: readonly string[], directory: string): ChildProcess {
  const linux = process.platform === 'linux'
  return spawn(linux ? '/bin/sh' : binary, linux ? ['-c', LIMITED, binary, ...args] : [...args], {
    cwd: directory,
    env: { HOME: directory, NO_COLOR: '1', RUST_BACKTRACE: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
    // Out of the terminal's process group: Ctrl-C must reach the sandbox alone, which then stops Anvil in order.
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
}

/** Whether the shell that should have become Anvil could not, by its exit code (POSIX): in the words of Node for the same. */
function refusalOfShell(code: number | null): NodeJS.ErrnoException | undefined {
  if (code === 127) return Object.assign(new Error('there is no such file'), { code: 'ENOENT' })
  return code === 126 ? Object.assign(new Error('it may not be executed'), { code: 'EACCES' }) : undefined
}

const NEEDS = 'Anvil needs glibc 2.35 or later'
const FIX = 'Fix: use a system that has it, such as Ubuntu 22.04, Debian 12 or the image node:22-slim.'

/** Why the system would not run Anvil's binary, and what to do. */
function spawnFailure(binary: string, { code, message }: NodeJS.ErrnoException): string {
  // The system says the same of a file that is not there and of one whose loader is not.
  if (code === 'ENOENT' && existsSync(binary)) return `could not be started: its loader is missing. ${libcNeeded()}`
  if (code === 'EACCES') {
    return `could not be started: ${binary} may not be executed. Fix: allow it, also by the mount (noexec).`
  }
  return `could not be started: ${message}`
}

/** What precedes and follows Anvil's last words: where in its own code, what to do about it, who called whom. */
const BEFORE = /^[\s\S]*The application panicked \(crashed\)\S*\s*Message:/
const AFTER = /\s*(Location:|Backtrace omitted|This is a bug|━+ BACKTRACE)[\s\S]*$/
/** Rust's words for EMFILE, which stand far behind what it was about to do. */
const TOO_MANY_FILES = /\(os error 24\)/
/** With a lower limit, no sandbox starts. */
const FEWEST_FILES = 64
/** With what is said around it, such a line is still readable. */
const MOST_WORDS = 160

/** What an Anvil that ended wrote, as one clean line, or what that means where the words do not say it. */
function endReason(stderr: string): string {
  if (/version `GLIBC_[\d.]+' not found/.test(stderr)) return libcNeeded()
  // Where this process has no room for its connection, Anvil only says that nobody answers.
  if (TOO_MANY_FILES.test(stderr) || mostOpenFiles() < FEWEST_FILES)
    return 'too many files are open. Fix: raise the limit of open files (ulimit -n)'
  const words = stderr.replace(BEFORE, '').replace(AFTER, '')
  return oneLine(words.replace(/\bhttps?:\/\/[^\s)]+/g, '…'), MOST_WORDS) // such an address may hold a secret
}

/** Why Anvil's files cannot be made, and what to do. */
function temporaryFailure({ message }: Error): string {
  return `Anvil's files cannot be made in the temporary directory ${tmpdir()} (${message}). Fix: make room there, let it be written, or set TMPDIR to another directory.`
}

function libcNeeded(): string {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  const has = header.glibcVersionRuntime
  return `${NEEDS}; ${has === undefined ? 'this system has another C library, such as musl' : `this system has ${has}`}. ${FIX}`
}

/** How many files this system lets a process have open; NaN where there is no limit. */
function mostOpenFiles(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } }
  return Number(userLimits?.open_files?.soft ?? Number.NaN)
}
