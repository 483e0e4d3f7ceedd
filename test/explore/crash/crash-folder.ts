import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expectGone } from '../../cli/expect-gone.ts'

const file = (name: string) => join(import.meta.dirname, name)

/** A worker with one deposit, a server that takes orders of one, and the tests of that server, as commands. */
export const WORKER = [process.execPath, file('worker.mjs')]
export const SERVER = `exec ${process.execPath} ${file('server.mjs')}`
export const DRIVER = [process.execPath, file('driver.mjs')]

/** A folder in which they keep their state, and note the id of every process. */
export class CrashFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'yield-sandbox-crash-'))
  readonly env = { STATE_DIR: this.path }

  /** Process ids of all starts until now. */
  get starts(): number[] {
    try {
      return readFileSync(join(this.path, 'pids'), 'utf8').trimEnd().split('\n').map(Number)
    } catch {
      return [] // nothing has been started yet
    }
  }

  expectNothingLeft(): void {
    for (const pid of this.starts) expectGone(pid)
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, maxRetries: 5 })
  }
}
