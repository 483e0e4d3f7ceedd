import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { readRecord } from '../../src/running/sandbox-record.ts'
import { isAlive } from '../helpers/children-of.ts'
import { type Ended, ROOT, run } from './command.ts'

/**
 * A project in a folder of its own, and commands in it. Sandboxes in the background are written down in `XDG_RUNTIME_DIR` of the
 * test; what still runs for the folder when the test is over is ended.
 */
export class ProjectFolder {
  readonly path: string

  /** Of a folder that is there, or a new one. */
  constructor(path = mkdtempSync(join(tmpdir(), 'project-'))) {
    this.path = realpathSync(path)
    mkdirSync(join(this.path, '.git'))
    symlinkSync(join(ROOT, 'bin'), join(this.path, 'bin'))
    onTestFinished(async () => {
      const pid = this.record?.pid
      if (pid !== undefined && isAlive(pid)) await this.run('stop')
      rmSync(this.path, { recursive: true, force: true })
    })
  }

  /** What is written down of the sandbox that runs for it. */
  get record() {
    return readRecord(this.path)
  }

  /** Runs a command in it, with the test's own record of what runs. */
  run(...args: string[]): Promise<Ended> {
    return run(args, { root: this.path, env: { XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR ?? '' } })
  }
}
