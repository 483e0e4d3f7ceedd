import { SandboxClock } from '../domain/clock.ts'
import type { TrialResult } from '../explore/exploration.ts'
import { isBad } from '../explore/judge/judge-trial.ts'
import { matrixOf } from '../explore/matrix.ts'
import { type PlannedTrial, waits } from '../explore/plan/plan.ts'
import { placesIn } from '../explore/plan/positions.ts'
import { matrixRows, painter } from '../explore/render/matrix-lines.ts'
import { OUTCOMES, signOf } from '../explore/render/outcomes.ts'
import { seconds } from '../explore/render/sentence.ts'
import { plural } from '../verdict/evidence/words.ts'
import { plainText } from '../verdict/render/safe-text.ts'
import { LiveLines, type Screen } from './live-lines.ts'
import { wantsColour } from './wants-colour.ts'

/** How often a log is told how far it is, in parts of the whole. */
const STEPS = 10

/** How an exploration is shown while it goes on. */
export interface DisplayTerms {
  screen: Screen
  clock: Pick<SandboxClock, 'wallNow'>
  /** Whether the screen is a terminal on which lines can be replaced: then the matrix fills where it stands, in colours. */
  live: boolean
}

/** Shows an exploration while it goes on: as a matrix that fills, or a line for each bad result and one now and then on how far it is. */
export class ExploreDisplay {
  readonly #terms: DisplayTerms
  readonly #lines: LiveLines
  readonly #results: TrialResult[] = []
  #trials: readonly PlannedTrial[] = []
  #began = 0
  #known = 0

  constructor(terms: DisplayTerms) {
    this.#terms = terms
    this.#lines = new LiveLines(terms.screen)
  }

  /** On this process's standard error; however the process ends, the terminal has its cursor. */
  static ofThisProcess(): ExploreDisplay {
    const live = wantsColour(process.stderr) && !process.env.CI
    const display = new ExploreDisplay({ screen: process.stderr, clock: new SandboxClock(), live })
    process.once('exit', () => display.end())
    return display
  }

  baseline(run: number): void {
    this.#say(run === 1 ? 'runs the command without faults' : 'runs it once more, to see whether it is repeatable')
  }

  /** `known`: results that are there already. */
  planned(trials: readonly PlannedTrial[], known: readonly TrialResult[]): void {
    this.#results.push(...known)
    this.#known = known.length
    this.#trials = trials
    this.#began = this.#terms.clock.wallNow()
    const there = this.#known > 0 ? `, ${this.#known} of them known` : ''
    const places = plural(placesIn(trials).length, 'place')
    this.#say(`${places} where something can go wrong, ${plural(trials.length, 'run')}${there}`)
    if (this.#terms.live) this.#draw()
  }

  tried(result: TrialResult): void {
    this.#results.push(result)
    if (this.#terms.live) this.#draw()
    else this.#log(result)
  }

  shrinking(schedules: number): void {
    this.#lines.end()
    this.#say(`looks for the fewest faults of ${plural(schedules, 'random schedule')} that failed`)
  }

  /** Leaves the terminal as it was: the whole answer follows. */
  end(): void {
    this.#lines.end()
  }

  #log({ outcome, level, trial, sentences }: TrialResult): void {
    const said = `${signOf({ outcome, level })} ${trial.id}: ${OUTCOMES[outcome].name}`
    if (isBad(level)) this.#say(plainText(`${said}; ${sentences.join('; ')}`))
    const step = (done: number) => Math.floor((done * STEPS) / this.#trials.length)
    if (step(this.#results.length) > step(this.#results.length - 1)) this.#say(this.#progress())
  }

  #draw(): void {
    const matrix = matrixOf({ results: this.#results, untried: { trials: this.#open() } })
    this.#lines.show([...matrixRows(matrix, painter(true)), '', this.#progress()])
  }

  #progress(): string {
    const bad = this.#results.filter(({ level }) => isBad(level)).length
    const passed = this.#terms.clock.wallNow() - this.#began
    const far = `${this.#results.length} of ${plural(this.#trials.length, 'run')}, ${bad} bad; ${seconds(passed)}`
    return [far, ...this.#left(passed)].join(', ')
  }

  /** How long it will take; of runs that wait for a client's patience, nobody knows. */
  #left(passed: number): string[] {
    const open = this.#open()
    const waiting = open.filter(waits).length
    const working = open.length - waiting
    const done = this.#results.length - this.#known
    const known = done > 0 && working > 0
    return [
      ...(known ? [`about ${seconds((passed / done) * working)} left`] : []),
      ...(waiting > 0 ? [`${known ? 'then ' : ''}${plural(waiting, 'run')} that wait for an answer`] : []),
    ]
  }

  #open(): PlannedTrial[] {
    const done = new Set(this.#results.map(({ trial }) => trial.id))
    return this.#trials.filter(({ id }) => !done.has(id))
  }

  #say(text: string): void {
    this.#terms.screen.write(`yield-sandbox: ${text}\n`)
  }
}
