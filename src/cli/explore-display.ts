import { SandboxClock } from '../domain/clock.ts'
import type { Exploration, TrialResult } from '../explore/exploration.ts'
import { matrixOf } from '../explore/matrix.ts'
import { OUTCOMES, SHOWN_IN_FULL } from '../explore/render/outcomes.ts'
import { countOf, seconds } from '../explore/render/sentence.ts'
import { matrixLines } from '../explore/render/text.ts'
import { plainText } from '../verdict/render/plain-text.ts'

/** A stream that may be a terminal. */
type Screen = NodeJS.WritableStream & { isTTY?: boolean; columns?: number; rows?: number }

/** How often a log is told how far it is, in parts of the whole. */
const STEPS = 10

/**
 * Shows an exploration while it goes on. On a terminal that is large enough, the matrix fills where it stands; elsewhere there is a
 * line for each bad result, and one now and then that says how far it is.
 */
export class ExploreDisplay {
  readonly #screen: Screen
  readonly #colour: boolean
  readonly #clock = new SandboxClock()
  readonly #results: TrialResult[] = []
  #began = 0
  #trials = 0
  #known = 0
  /** Lines that stand on the terminal, to be replaced. */
  #drawn = 0

  constructor(screen: Screen, colour: boolean) {
    this.#screen = screen
    this.#colour = colour
  }

  baseline(run: number): void {
    this.#say(run === 1 ? 'runs the command without faults' : 'runs it once more, to see whether it is repeatable')
  }

  planned({ baseline }: Exploration, trials: number, known: Iterable<TrialResult>): void {
    this.#results.push(...known)
    this.#known = this.#results.length
    this.#trials = trials
    this.#began = this.#clock.wallNow()
    const there = this.#known > 0 ? `, ${this.#known} of them known` : ''
    this.#say(`${countOf(baseline.positions, 'place')} where something can go wrong, ${countOf(trials, 'run')}${there}`)
    this.#draw()
  }

  tried(result: TrialResult): void {
    this.#results.push(result)
    if (this.#screen.isTTY) this.#draw()
    else this.#log(result)
  }

  /** Takes away what is drawn: the whole answer follows. */
  end(): void {
    this.#erase()
  }

  #log({ outcome, trial, sentences }: TrialResult): void {
    const { sign, name } = OUTCOMES[outcome]
    if (SHOWN_IN_FULL.includes(outcome)) this.#say(plainText(`${sign} ${trial.id}: ${name}; ${sentences.join('; ')}`))
    const done = this.#results.length
    if (Math.floor((done * STEPS) / this.#trials) > Math.floor(((done - 1) * STEPS) / this.#trials))
      this.#say(this.#progress())
  }

  #draw(): void {
    if (!this.#screen.isTTY) return
    const { columns = 80, rows = 24 } = this.#screen
    const matrix = matrixLines(matrixOf({ results: this.#results }), { colour: this.#colour })
    const lines = [...matrix, '', this.#progress().slice(0, columns - 1)]
    // A line that wraps or scrolls away could not be replaced.
    const plain = matrixLines(matrixOf({ results: this.#results }))
    const fits = lines.length < rows && plain.every(({ length }) => length < columns)
    const shown = fits ? lines : lines.slice(-1)
    this.#erase()
    this.#screen.write(`${shown.join('\n')}\n`)
    this.#drawn = shown.length
  }

  #erase(): void {
    if (this.#drawn > 0) this.#screen.write(`\u001b[${this.#drawn}A\u001b[J`)
    this.#drawn = 0
  }

  #progress(): string {
    const done = this.#results.length
    const fresh = done - this.#known
    const passed = this.#clock.wallNow() - this.#began
    const left = fresh === 0 ? '' : `, about ${seconds((passed / fresh) * (this.#trials - done))} left`
    const bad = this.#results.filter(({ outcome }) => SHOWN_IN_FULL.includes(outcome)).length
    return `${done} of ${this.#trials} runs, ${bad} bad; ${seconds(passed)}${left}`
  }

  #say(text: string): void {
    this.#screen.write(`yield-sandbox: ${text}\n`)
  }
}
