import { stripVTControlCharacters } from 'node:util'
import { SandboxClock } from '../domain/clock.ts'
import type { AssumptionResult, TrialResult } from '../explore/exploration.ts'
import { isBad } from '../explore/judge/judge-trial.ts'
import { matrixOf } from '../explore/matrix.ts'
import { type PlannedTrial, waits } from '../explore/plan/plan.ts'
import { placesIn } from '../explore/plan/positions.ts'
import { ASSUMPTION_WORDS, harms, settingName } from '../explore/render/assumption-words.ts'
import { matrixRows, painter } from '../explore/render/matrix-lines.ts'
import { OUTCOMES, signOf } from '../explore/render/outcomes.ts'
import { seconds } from '../explore/render/sentence.ts'
import { plainText } from '../render/safe-text.ts'
import { plural } from '../verdict/evidence/words.ts'
import { canRenew } from './first-words.ts'
import { progress } from './progress.ts'
import { wantsColour } from './screen-of.ts'

/** Number of progress lines that a log gets. */
const STEPS = 10

/** Settings of the display of an exploration. */
export interface DisplayTerms {
  screen: Screen
  clock: Pick<SandboxClock, 'wallNow'>
  /** True if the screen is a terminal on which lines can be replaced: the matrix then fills in place, in colours. */
  live: boolean
}

/** Shows an exploration while it goes on: as a matrix that fills, or as a line for each bad result and one now and then on progress. */
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

  /** A display on this process's standard error; the cursor comes back in whatever way the process ends. */
  static ofThisProcess(): ExploreDisplay {
    const live = canRenew(process.stderr) && wantsColour(process.stderr)
    progress.end()
    const display = new ExploreDisplay({ screen: process.stderr, clock: new SandboxClock(), live })
    process.once('exit', () => display.end())
    return display
  }

  baseline(run: number): void {
    this.#say(run === 1 ? 'runs the command without faults' : 'runs it once more, to see whether it is repeatable')
  }

  /** `known`: results of an earlier exploration. */
  planned(trials: readonly PlannedTrial[], known: readonly TrialResult[]): void {
    this.#results.push(...known)
    this.#known = known.length
    this.#trials = trials
    this.#began = this.#terms.clock.wallNow()
    // Where the command is run under other settings alone, no place is struck.
    if (trials.length === 0) return
    const there = this.#known > 0 ? `, ${this.#known} of them known` : ''
    const places = plural(placesIn(trials).length, 'place')
    this.#say(`${places} where something can go wrong, ${plural(trials.length, 'run')}${there}`)
    if (this.#terms.live) this.#draw()
  }

  /** Trials that the earlier ones have led to. */
  further(trials: readonly PlannedTrial[]): void {
    this.#lines.end()
    this.#trials = [...this.#trials, ...trials]
    this.#say(`goes on from what those have changed: ${plural(trials.length, 'pair')}`)
  }

  /** Number of other settings of the service under which the command is run next. */
  assuming(alternatives: number): void {
    this.#lines.end()
    this.#say(`runs the command under ${plural(alternatives, 'other setting')} of the service`)
  }

  assumed(result: AssumptionResult): void {
    this.#lines.end()
    const { sign, name } = ASSUMPTION_WORDS[result.outcome]
    if (harms(result)) this.#say(plainText(`${sign} ${settingName(result)}: ${name}; ${result.sentences.join('; ')}`))
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

  /** Restores the terminal: the whole answer follows. */
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

  /** Remaining time; for runs that wait for a client's patience it cannot be estimated. */
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

/** A stream that may be a terminal. */
export type Screen = NodeJS.WritableStream & { isTTY?: boolean; columns?: number; rows?: number }

/** Sequences of ECMA-48 and of DEC's terminals, which all terminals support today. */
const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
const upAndClear = (lines: number) => `\u001b[${lines}A\u001b[J`

/** Lines at the end of a terminal that are replaced in place. */
export class LiveLines {
  readonly #screen: Screen
  /** Width of each line on the screen. */
  #drawn: number[] = []

  constructor(screen: Screen) {
    this.#screen = screen
  }

  /** Replaces the lines. If there is not enough room it shows the last one alone, since lines that scrolled away cannot be replaced. */
  show(lines: readonly string[]): void {
    const { columns = 80, rows = 24 } = this.#screen
    const fits = lines.length < rows && lines.every((line) => widthOf(line) < columns)
    const shown = fits ? lines : lines.slice(-1).map((line) => stripVTControlCharacters(line).slice(0, columns - 1))
    this.#screen.write(`${this.#erasure() || HIDE_CURSOR}${shown.join('\n')}\n`)
    this.#drawn = shown.map(widthOf)
  }

  /** Removes the lines and shows the cursor again. */
  end(): void {
    const erasure = this.#erasure()
    if (erasure !== '') this.#screen.write(erasure + SHOW_CURSOR)
    this.#drawn = []
  }

  /** The sequence that erases the lines; a terminal that has become narrower since has wrapped them. */
  #erasure(): string {
    const { columns = 80 } = this.#screen
    const lines = this.#drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0)
    return lines === 0 ? '' : upAndClear(lines)
  }
}

function widthOf(line: string): number {
  return stripVTControlCharacters(line).length
}
