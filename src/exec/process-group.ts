import { readdirSync, readFileSync } from 'node:fs'

/** A command and everything it started that did not leave its group. */
export class ProcessGroup {
  readonly #id: number

  /** `leader` is the process id of the command, which was started with a group of its own. */
  constructor(leader: number) {
    this.#id = leader
  }

  /** Sends a signal to each of them; 0 sends none. Returns false when nobody is there. */
  signal(signal: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-this.#id, signal)
    } catch {
      return false // ESRCH; on macOS, EPERM when all that is left was not waited for
    }
  }

  /** Names of those that run. Where the system does not tell them (no Linux), one that stands for all. */
  members(): string[] {
    if (!this.signal(0)) return []
    try {
      const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))
      return pids.flatMap((pid) => this.#nameOf(pid) ?? [])
    } catch {
      return ['unknown']
    }
  }

  /** Undefined for one that has ended, though nobody may have waited for it, or is of another group. */
  #nameOf(pid: string): string | undefined {
    try {
      const [, name, state, group] = /\((.*)\) (\S) \d+ (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
      return Number(group) === this.#id && state !== 'Z' && state !== 'X' ? name : undefined
    } catch {
      return undefined // it ended meanwhile
    }
  }
}
