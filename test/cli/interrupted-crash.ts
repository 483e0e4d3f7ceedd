import { join } from 'node:path'
import { afterEach, beforeEach, expect } from 'vitest'
import { CrashFolder, DRIVER, SERVER, WORKER } from '../explore/crash/crash-folder.ts'
import { eventually } from '../helpers/eventually.ts'
import type { Command } from './command.ts'
import { commandStarter } from './command-starter.ts'

/** For each test of a file: a folder of a worker or a server, and the command line that explores them, to be interrupted. */
export class InterruptedCrash {
  readonly #start = commandStarter()
  #folder: CrashFolder | undefined

  constructor() {
    beforeEach(() => {
      this.#folder = new CrashFolder()
    })
    afterEach(() => this.folder[Symbol.dispose]())
  }

  get folder(): CrashFolder {
    if (!this.#folder) throw new Error('no test has begun')
    return this.#folder
  }

  explore(flags: readonly string[], command: readonly string[] = WORKER): Command {
    const results = join(this.folder.path, 'results.jsonl')
    const own = ['--no-join', '--crash', '--jobs', '1', '--only', 'deposit', '--results', results]
    return this.#start(['explore', ...own, ...flags, '--', ...command], { env: this.folder.env })
  }

  exploreApp(ready = 'http://127.0.0.1:$YIELD_APP_PORT/health'): Command {
    return this.explore(['--app', SERVER, '--ready', ready], DRIVER)
  }

  /** Interrupts it as soon as so many processes have been started, and holds that nothing is left. */
  async interruptAfter(starts: number, command: Command): Promise<void> {
    await eventually(() => expect(this.folder.starts.length).toBeGreaterThanOrEqual(starts))
    command.kill('SIGINT')
    expect((await command.ended).code).toBe(130)
    this.folder.expectNothingLeft()
  }
}
