import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const LIBRARIES = '/usr/lib'

/** libfaketime as Debian installs it, for programs with several threads; undefined if it is not installed. */
const library = existsSync(LIBRARIES)
  ? readdirSync(LIBRARIES)
      .map((folder) => join(LIBRARIES, folder, 'faketime/libfaketimeMT.so.1'))
      .find((path) => existsSync(path))
  : undefined

/** Reason why tests with faked clocks are left out, for their title; undefined if they are not. */
export const noFaketime = library ? undefined : 'left out: no libfaketime in /usr/lib (apt-get install faketime)'

/**
 * Wall clock of a machine that was suspended: it goes on, by the system's own time since its start, which libfaketime leaves alone. Real time
 * is read by `Date.now` alone.
 */
const WALL_GOES_ON = `
const { readFileSync } = require('node:fs')
const uptime = () => Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]) * 1000
const start = Date.now() - uptime()
Date.now = () => Math.round(start + uptime())
`

/**
 * Clocks that are faked:
 * - `wall`: the wall clock alone, as where somebody sets it
 * - `all`: the monotonic clock as well, by which Node's timers run, as where the machine's oscillator is fast or slow
 * - `monotonic`: the monotonic clock alone, as on a machine that is suspended
 */
export type FakedClocks = 'wall' | 'all' | 'monotonic'

/**
 * Clocks of one process, which can be moved while it runs. Anvils have those of the machine: they are started without the sandbox's environment,
 * and their time is what the sandbox says.
 *
 * Measured with Node 20 and libfaketime 0.9.10: a jump of the wall clock leaves Node's timers alone. When all clocks go forward, every timer is due at
 * once; faster and slower clocks make timers fast and slow. When the monotonic clock goes back, timers stand still by as much, so it never does here: it
 * stands still at most while the process does.
 */
export class FakedClock {
  readonly #folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-faked-clock-'))
  readonly #which: FakedClocks

  /** `speed`: of the clocks, 1 for the machine's. */
  constructor(which: FakedClocks, speed = 1) {
    this.#which = which
    this.#write(`+0 x${speed}`)
    writeFileSync(join(this.#folder, 'wall.cjs'), WALL_GOES_ON)
  }

  /** Environment of the process. */
  get environment(): Record<string, string> {
    return {
      LD_PRELOAD: library ?? '',
      FAKETIME_TIMESTAMP_FILE: join(this.#folder, 'rule'),
      FAKETIME_NO_CACHE: '1', // a jump happens at the next look at a clock
      NO_FAKE_STAT: '1',
      ...(this.#which === 'wall' && { FAKETIME_DONT_FAKE_MONOTONIC: '1' }),
      ...(this.#which === 'monotonic' && { NODE_OPTIONS: `--require ${this.#folder}/wall.cjs` }),
    }
  }

  /** Sets the clocks to so many milliseconds before the machine's, or behind them. */
  set(ahead: number): void {
    this.#write(`${ahead < 0 ? '' : '+'}${(ahead / 1000).toFixed(3)}`)
  }

  /** Call it when the process has ended. A killed one leaves what the library shares with its children. */
  remove(pid: number | undefined): void {
    for (const left of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`])
      rmSync(join('/dev/shm', left), { force: true })
    rmSync(this.#folder, { recursive: true })
  }

  /** The library must never read half a rule. */
  #write(rule: string): void {
    const file = join(this.#folder, 'rule')
    writeFileSync(`${file}.new`, rule)
    renameSync(`${file}.new`, file)
  }
}
