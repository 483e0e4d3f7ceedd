import { END_OF_TIME, type SandboxClock } from '../domain/clock.ts'
import { Problem } from '../domain/errors.ts'
import type { Exchange } from '../domain/exchange.ts'
import type { ActiveFault, ActiveRule } from '../faults/active-rule.ts'
import type { FaultEngine } from '../faults/fault-engine.ts'
import type { Logger } from '../support/logger.ts'
import { parseDuration, parseMoment } from '../support/quantities.ts'
import type { Expectation, Scenario, ScenarioClockMove } from './scenario-schema.ts'

/** A scenario that was started, as the control interface shows it. */
export interface ScenarioRun {
  name: string
  description: string
  /** `failed`: a clock move could not be made; the faults have been removed. */
  state: 'running' | 'stopped' | 'failed'
  /** Business time, ISO 8601. */
  started_at: string
  /** Its faults with their hits, including those no longer in force. */
  faults: ActiveFault[]
  clock: {
    explanation: string
    /** Business time after the move, ISO 8601; null while it has not been made. */
    moved_at: string | null
  }[]
  /** Reason for the failure, and the parts that had been applied. */
  failure: string | null
  /** Seed of every random choice of the run: with the same seed, the same requests meet the same faults. */
  seed: number
  expect: Expectation
}

interface Move {
  move: ScenarioClockMove
  /** Number of successful answers to wait for. */
  left: number
  moved_at: string | null
}

/** Runs one scenario at a time: puts its faults in force, moves the clock as the client proceeds, and undoes both at the end. */
export class ScenarioRunner {
  #run: Run | undefined
  #forgotten: LostScenario | undefined
  readonly #deps: RunDeps

  constructor(deps: RunDeps) {
    this.#deps = deps
  }

  /** The scenario started last, whether it runs or has failed. */
  get current(): ScenarioRun | undefined {
    return this.#run?.show()
  }

  /** The scenario started last, if its faults were removed other than by its stop: by a reset, or one by one. */
  get lost(): LostScenario | undefined {
    return this.#run?.lost ?? this.#forgotten
  }

  /**
   * Puts the faults in force and makes the moves of the start, all or none; `tenants` are the slugs a rule may name.
   * Throws Problem scenario_running, or validation_error naming the part that cannot be applied.
   */
  start(scenario: Scenario, tenants: readonly string[]): ScenarioRun {
    if (this.#run?.state === 'running') {
      const detail = `The scenario ${this.#run.scenario.name} is running; stop it first.`
      throw new Problem('scenario_running', { detail })
    }
    const run = new Run(scenario, this.#deps)
    run.begin(tenants)
    this.#run = run
    this.#forgotten = undefined
    return run.show()
  }

  /** Undoes what the running scenario applied. Returns the run as it ended, if there was one. */
  stop(): ScenarioRun | undefined {
    const run = this.#run
    this.#run = undefined
    this.#forgotten = undefined
    if (run?.state === 'running') run.end('stopped')
    return run?.show()
  }

  /** Forgets the scenario except for {@link lost}: for a reset, which itself undoes its faults and moves. */
  forget(): void {
    if (this.#run?.state === 'running') this.#forgotten = this.#run.asLost()
    this.#run = undefined
  }

  /** Call before an answer is written: makes the clock moves that wait for it. */
  answered({ operation }: Exchange, status: number): void {
    if (status < 400) this.#run?.answered(operation)
  }
}

class Run {
  state: ScenarioRun['state'] = 'running'
  readonly scenario: Scenario
  readonly #deps: RunDeps
  readonly #startedAt: string
  readonly #wasFrozen: boolean
  readonly #moves: Move[]
  #rules: readonly ActiveRule[] = []
  #failure: string | null = null

  constructor(scenario: Scenario, deps: RunDeps) {
    this.scenario = scenario
    this.#deps = deps
    this.#startedAt = deps.clock.iso()
    this.#wasFrozen = deps.clock.frozen
    this.#moves = scenario.clock.map((move) => ({
      move,
      left: move.after ? (move.after.times ?? 1) : 0,
      moved_at: null,
    }))
  }

  begin(tenants: readonly string[]): void {
    this.#rehearse()
    const { faults } = this.scenario
    const engine = this.#deps.faults
    try {
      const added = engine.add(faults, tenants, (i) => ['faults', i])
      this.#rules = engine.rulesOf(new Set(added.map(({ id }) => id)))
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const { code, details } = error
      throw new Problem(code, { ...details, detail: `${details.detail} Nothing was applied.` })
    }
    this.#makeDueMoves()
    if (this.#failure !== null) throw new Problem('validation_error', { detail: this.#failure, param: 'clock' })
  }

  answered(operation: string): void {
    if (this.state !== 'running') return
    let due = false
    for (const waiting of this.#moves) {
      if (waiting.moved_at !== null || waiting.left === 0 || waiting.move.after?.operation !== operation) continue
      waiting.left--
      due ||= waiting.left === 0
    }
    if (due) this.#makeDueMoves()
  }

  end(state: 'stopped' | 'failed'): void {
    const { faults, clock } = this.#deps
    this.state = state
    for (const { id } of this.#rules) faults.remove(id)
    const halted = this.#moves.some(({ move, moved_at }) => 'freeze' in move && moved_at !== null)
    if (!halted || clock.frozen === this.#wasFrozen) return
    if (this.#wasFrozen) clock.freeze()
    else clock.unfreeze()
  }

  show(): ScenarioRun {
    const { name, description, expect } = this.scenario
    return {
      name,
      description,
      state: this.state,
      seed: this.#deps.seed,
      started_at: this.#startedAt,
      faults: this.#rules.flatMap((rule) => rule.show() ?? []),
      clock: this.#moves.map(({ move, moved_at }) => ({ explanation: explainMove(move), moved_at })),
      failure: this.#failure,
      expect,
    }
  }

  /** Refuses moves of the start that cannot be made, before anything is applied. */
  #rehearse(): void {
    let now = this.#deps.clock.now()
    for (const [i, { move, left }] of this.#moves.entries()) {
      if (left > 0) continue
      try {
        now = destination(move, now)
      } catch (error) {
        if (!(error instanceof RangeError)) throw error
        const param = `clock[${i}].${'set' in move ? 'set' : 'advance'}`
        throw new Problem('validation_error', { detail: `${param}: ${error.message}. Nothing was applied.`, param })
      }
    }
  }

  #makeDueMoves(): void {
    const { clock, log } = this.#deps
    for (const [i, due] of this.#moves.entries()) {
      if (due.left > 0 || due.moved_at !== null) continue
      try {
        makeMove(due.move, clock)
        due.moved_at = clock.iso()
      } catch (error) {
        if (!(error instanceof RangeError)) throw error
        this.#failure = `clock[${i}] could not be made: ${error.message}. ${this.#applied()}`
        this.end('failed')
        log.warn({ scenario: this.scenario.name, failure: this.#failure }, 'the scenario failed')
        return
      }
    }
  }

  #applied(): string {
    const moved = this.#moves.flatMap(({ moved_at }, i) => (moved_at === null ? [] : [`clock[${i}] at ${moved_at}`]))
    const moves =
      moved.length > 0
        ? `these moves were made, and time that has passed stays passed: ${moved.join(', ')}`
        : 'no other move was made'
    return `Its faults (${this.#rules.length}) were in force and have been taken back; ${moves}.`
  }

  /** Undefined while all of its faults are in force, and when it has ended by itself. */
  get lost(): LostScenario | undefined {
    const taken = this.#rules.some(({ released }) => released.signal.aborted)
    return this.state === 'running' && taken ? this.asLost() : undefined
  }

  asLost(): LostScenario {
    const struck = this.#rules.some(({ hits }) => hits > 0) || this.#moves.some(({ moved_at }) => moved_at !== null)
    return { name: this.scenario.name, struck }
  }
}

/** A scenario that was removed other than by its stop. */
export interface LostScenario {
  name: string
  /** True if it had had any effect by then: a fault had struck, or the clock had been moved. */
  struck: boolean
}

export interface RunDeps {
  faults: FaultEngine
  clock: SandboxClock
  log: Logger
  seed: number
}

/** Business time after a move that begins at `now`, in milliseconds. Throws RangeError when the move is not possible. */
export function destination(move: ScenarioClockMove, now: number): number {
  if ('freeze' in move) return now
  const then = 'advance' in move ? now + parseDuration(move.advance) : parseMoment(move.set)
  if (then < now) throw new RangeError(`the clock only moves forward; it is ${new Date(now).toISOString()}`)
  if (then > END_OF_TIME) throw new RangeError('the sandbox clock ends with the year 9999')
  return then
}

/** Makes the move. Throws RangeError when it is not possible, and leaves the clock unchanged then. */
function makeMove(move: ScenarioClockMove, clock: SandboxClock): void {
  if ('freeze' in move) {
    if (move.freeze) clock.freeze()
    else clock.unfreeze()
  } else {
    const now = clock.now()
    clock.advance(destination(move, now) - now)
  }
}

/** One sentence: what the move does, and when. */
function explainMove(move: ScenarioClockMove): string {
  const { after } = move
  const what =
    'freeze' in move
      ? `the clock ${move.freeze ? 'is frozen' : 'runs on'}`
      : 'advance' in move
        ? `the clock is moved on by ${move.advance}`
        : `the clock is set to ${move.set}`
  const { operation, times = 1 } = after ?? {}
  return operation ? `After ${times} successful ${operation}, ${what}.` : `At the start, ${what}.`
}
