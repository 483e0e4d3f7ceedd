import type { ChildProcess } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SandboxClock } from '../../domain/clock.ts'
import type { Logger } from '../../support/logger.ts'
import { SeededRandom } from '../../support/random.ts'
import { GAS_LIMIT } from '../history/gas-limit.ts'
import { RpcClient } from '../json-rpc/rpc-client.ts'
import { ANVIL_VERSION, anvilBinary } from './anvil-binary.ts'
import { endReason, spawnFailure, temporaryFailure } from './anvil-failure.ts'
import { type LoopbackAddress, loopbackAddress } from './loopback-address.ts'
import { guardAgainstOrphan, type OrphanGuard } from './orphan-guard.ts'
import { refusalOfShell, spawnAnvil } from './spawn-anvil.ts'

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
