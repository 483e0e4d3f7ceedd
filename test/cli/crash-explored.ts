import { afterEach, beforeEach, expect } from 'vitest'
import { CrashFolder, DRIVER, SERVER, WORKER } from '../explore/crash/crash-folder.ts'
import { ExploreFolder } from './explore-folder.ts'

/** Lets the port of each server be its own. */
export const READY = ['--ready', 'http://127.0.0.1:$YIELD_APP_PORT/health']
/** One kill, at the deposit. */
export const ONCE = ['--no-join', '--crash', '--only', 'deposit', '--faults', 'killed-on-request']

/** For each test of a file: a folder of a worker or a server, and what explores them. */
export class CrashExplored {
  #results: ExploreFolder | undefined
  #folder: CrashFolder | undefined

  constructor() {
    beforeEach(async () => {
      this.#results = await ExploreFolder.make()
      this.#folder = new CrashFolder()
    })
    afterEach(async () => {
      this.folder[Symbol.dispose]()
      await this.#results?.[Symbol.asyncDispose]()
    })
  }

  get folder(): CrashFolder {
    if (!this.#folder) throw new Error('no test has begun')
    return this.#folder
  }

  explore(flags: readonly string[], command: readonly string[] = WORKER, env: Record<string, string> = {}) {
    if (!this.#results) throw new Error('no test has begun')
    return this.#results.explore(flags, command, { ...this.folder.env, ...env })
  }

  /** Explores the server, with one kill at the deposit unless the flags name others. */
  exploreApp(flags: readonly string[], env: Record<string, string> = {}) {
    return this.explore([...ONCE, '--timeout', '60s', '--app', SERVER, ...flags], DRIVER, env)
  }

  /** Holds that the server, which is right, survives each of these kills, and that nothing else was killed or started. */
  async expectSurvived(faults: readonly string[]): Promise<void> {
    const { code, exploration } = await this.exploreApp([...READY, '--faults', faults.join(',')])
    expect(exploration?.results.map(({ outcome }) => outcome)).toEqual(faults.map(() => 'survived'))
    expect(code).toBe(0)
    // Server and command in each run; the server once more for the condition, and after each kill.
    expect(this.folder.starts).toHaveLength(2 + 3 + 3 * faults.length)
    this.folder.expectNothingLeft()
  }
}

/** The sentences with which it ends, without its progress. */
export function said({ stderr }: { stderr: string }): string {
  const lines = stderr.split('\n').filter((line) => /^yield-sandbox: (?!runs|not among|\d)/.test(line))
  return lines.join('\n')
}
