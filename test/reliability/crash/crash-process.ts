import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import type { Credentials } from '../../../src/index.ts'
import { Command } from '../../cli/command.ts'
import { anvilsOf } from '../../helpers/anvils.ts'

/** The command line on one data directory, killed and started again, with a folder of its own for temporary files. */
export class CrashProcess {
  readonly #root = mkdtempSync(join(tmpdir(), 'yield-sandbox-crash-'))
  readonly #temporary = join(this.#root, 'tmp')
  #command: Command | undefined

  constructor() {
    mkdirSync(this.#temporary)
  }

  /** Starts the command line and does not wait for it. */
  begin(delay: string): Command {
    const where = ['--data-dir', join(this.#root, 'data'), '--port', '0', '--log-level', 'warn']
    const env = { TMPDIR: this.#temporary }
    this.#command = new Command([...where, '--json', '--confirmation-delay', delay], { env })
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

  get #pid(): number {
    return this.#command?.child.pid ?? 0
  }

  /** Process ids of the present sandbox's Anvils. */
  anvils(): number[] {
    return anvilsOf(this.#pid)
  }

  /** Returns whom it killed. */
  killAnvil(): number[] {
    const pids = this.anvils()
    spawnSync('kill', ['-9', ...pids.map(String)]) // says nothing of one that has just been replaced
    return pids
  }

  /** Ends it and resolves when it has ended. `SIGKILL` gives it no chance. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.#command?.kill(signal)
    await this.#command?.ended
  }

  /** Resolves when the only Anvil is that of the present sandbox. */
  async expectOneAnvil(): Promise<void> {
    await vi.waitFor(() => expect(this.#allAnvils()).toEqual(this.anvils()), { timeout: 5_000 })
    expect(this.#allAnvils()).toHaveLength(1)
  }

  /** Resolves when no process and no temporary file of any start is left. */
  async expectNothingLeft(): Promise<void> {
    await vi.waitFor(() => expect(this.#processes('')).toEqual([]), { timeout: 5_000 })
    await vi.waitFor(() => expect(readdirSync(this.#temporary)).toEqual([]), { timeout: 5_000 })
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

  /** Of every start: each Anvil, and what watches over it, names its temporary folder. */
  #processes(before: string): number[] {
    const { stdout } = spawnSync('pgrep', ['-f', '--', `${before}${this.#temporary}`], { encoding: 'utf8' })
    return stdout.split('\n').filter(Boolean).map(Number)
  }
}
