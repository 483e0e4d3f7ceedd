import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Credentials } from '../../../src/index.ts'
import { Command } from '../../cli/command.ts'
import { anvilsOf, watchdogsOf } from '../../helpers/anvils.ts'
import { processesNaming } from '../../helpers/children-of.ts'
import { eventually } from '../../helpers/eventually.ts'
import { databaseFor } from '../../helpers/on-database.ts'

/** What a sandbox is started with, each time. */
export interface ProcessOptions {
  /** Whether it keeps its state in a data directory; default: true. */
  kept?: boolean
  /** More flags. */
  flags?: readonly string[]
  env?: Record<string, string>
  /** The package's folder; default: this one. */
  root?: string
}

/** Lines of {@link SandboxProcess.lastWords}. */
const WORDS = 12

/** The command line, killed and started again on one data directory, with a folder of its own for temporary files. */
export class SandboxProcess {
  readonly #root = mkdtempSync(join(tmpdir(), 'yield-sandbox-harness-'))
  readonly #temporary = join(this.#root, 'tmp')
  readonly #options: ProcessOptions
  #command: Command | undefined

  constructor(options: ProcessOptions = {}) {
    this.#options = options
    mkdirSync(this.#temporary)
  }

  /** Where it keeps its state. */
  get dataDir(): string {
    return join(this.#root, 'data')
  }

  /** Starts the command line and does not wait for it. */
  begin(delay: string): Command {
    const { kept = true, flags = [], env, root } = this.#options
    const database = kept ? databaseFor(this.dataDir) : undefined
    const where = database ? ['--database', database] : kept ? ['--data-dir', this.dataDir] : []
    const args = [...where, '--port', '0', '--log-level', 'warn', '--json', '--confirmation-delay', delay, ...flags]
    this.#command = new Command(args, { env: { ...env, TMPDIR: this.#temporary }, ...(root && { root }) })
    return this.#command
  }

  /** Resolves when it is ready. */
  async start(delay: string): Promise<Credentials> {
    return this.begin(delay).credentials()
  }

  /** What it logged since it was started: warnings and worse. */
  get log(): string {
    return this.#command?.stderr ?? ''
  }

  /** The last of it, a line for each warning that is not the one before again. */
  get lastWords(): string {
    const lines = this.log.split('\n').map((line) => {
      const { msg, err, error } = line.startsWith('{') ? JSON.parse(line) : { msg: line }
      return [msg, err?.message ?? error].filter(Boolean).join(': ').slice(0, 200)
    })
    return [...new Set(lines)].filter(Boolean).slice(-WORDS).join('\n')
  }

  get #pid(): number {
    return this.#command?.child.pid ?? 0
  }

  /** Process ids of the present sandbox's Anvils. */
  anvils(): number[] {
    return anvilsOf(this.#pid)
  }

  /** Returns whom it killed. */
  killAnvil(): number[] {
    return this.signalAnvil('KILL')
  }

  /** Returns whom it sent the signal to. */
  signalAnvil(signal: 'KILL' | 'STOP' | 'CONT', pids = this.anvils()): number[] {
    spawnSync('kill', [`-${signal}`, ...pids.map(String)]) // says nothing of one that has just been replaced
    return pids
  }

  /** Resident memory in MiB. */
  memory(): { sandbox: number; anvil: number } {
    const of = (pids: readonly number[]) => {
      const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', pids.join()], { encoding: 'utf8' })
      return Math.round(stdout.split('\n').reduce((sum, line) => sum + Number(line), 0) / 1024)
    }
    return { sandbox: of([this.#pid]), anvil: of(this.anvils()) }
  }

  /** Ends it and resolves when it has ended. `SIGKILL` gives it no chance. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.#command?.kill(signal)
    await this.#command?.ended
  }

  /** Resolves when the only Anvil is that of the present sandbox. */
  async expectOneAnvil(): Promise<void> {
    await eventually(() => expect(this.#allAnvils()).toEqual(this.anvils()))
    expect(this.#allAnvils()).toHaveLength(1)
  }

  /** Resolves when no process and no temporary file of any start is left. */
  async expectNothingLeft(): Promise<void> {
    await eventually(() => expect(watchdogsOf(this.#pid)).toEqual([]))
    await eventually(() => expect(this.#processes('')).toEqual([]))
    await eventually(() => expect(readdirSync(this.#temporary)).toEqual([]))
  }

  /** Ends whatever is left and removes the data directory. */
  async dispose(): Promise<void> {
    await this.end('SIGKILL')
    for (const pid of this.#processes('')) process.kill(pid, 'SIGKILL')
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 10 })
  }

  #allAnvils(): number[] {
    return this.#processes('--cache-path ')
  }

  /** Of every start: each Anvil names its temporary folder. */
  #processes(before: string): number[] {
    return processesNaming(`${before}${this.#temporary}`)
  }
}
