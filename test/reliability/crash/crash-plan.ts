import { SeededRandom } from '../../../src/support/random.ts'

/** What is killed; `neither` is asked to stop in order instead. */
export type Victim = 'sandbox' | 'anvil' | 'both' | 'neither'

/** One round: a while of load, a kill, and what happens until the sandbox is ready again. */
export interface CrashRound {
  number: number
  victim: Victim
  /** Milliseconds of load before the kill; of a reset when one is under way. */
  after: number
  during: 'load' | 'reset'
  /** The sandbox is killed again so many milliseconds into each of these starts. */
  startsKilled: number[]
  /** Whether business time stands still under the load. */
  frozen: boolean
  /** The `--confirmation-delay` afterwards; another one needs another start. */
  delay: string
}

const LOAD = 1_200
const RESET = 250
const START = 1_200

/** Every round of a run, drawn from its seed. */
export function planRounds(rounds: number, seed: number): CrashRound[] {
  const random = new SeededRandom(seed)
  const draw = (what: string) => random.next(what)
  const upTo = (what: string, limit: number) => Math.floor(draw(what) * limit)
  let delay = '0'
  return Array.from({ length: rounds }, (_, index) => {
    const during = draw('during') < 0.12 ? 'reset' : 'load'
    const victims: Victim[] = ['sandbox', 'sandbox', 'sandbox', 'anvil', 'anvil', 'both', 'both', 'both', 'neither']
    const victim = victims[upTo('victim', victims.length)] ?? 'both'
    const startsKilled = Array.from({ length: Math.max(0, upTo('starts', 4) - 1) }, () => upTo('start', START))
    // In frozen time a transfer would wait for its confirmation for ever.
    const frozen = draw('frozen') < 0.3 && delay === '0'
    const slow = draw('delay') < 0.4 && !frozen
    if (victim !== 'anvil') delay = slow ? '5ms-150ms' : '0'
    return {
      number: index + 1,
      victim,
      after: upTo('moment', during === 'reset' ? RESET : LOAD),
      during,
      startsKilled: victim === 'anvil' ? [] : startsKilled,
      frozen,
      delay,
    }
  })
}

/** A round in words. */
export function inWords({ number, victim, after, during, startsKilled, frozen, delay }: CrashRound): string {
  const what = victim === 'neither' ? 'stop' : `kill ${victim}`
  const again = startsKilled.map((ms) => `, again ${ms} ms into the start`).join('')
  const time = `${frozen ? 'frozen' : 'running'} clock, delay ${delay} afterwards`
  return `round ${number}: ${what} after ${after} ms of ${during}${again} (${time})`
}
