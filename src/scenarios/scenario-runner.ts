import type { SandboxClock } from '../domain/clock.ts'
import { Problem } from '../domain/errors.ts'
import type { Exchange } from '../domain/exchange.ts'
import type { FaultEngine } from '../faults/fault-engine.ts'
import type { ActiveFault } from '../faults/rule-in-force.ts'
import type { Logger } from '../support/logger.ts'
import { destination, explainMove, makeMove } from './clock-move.ts'
import type { ClockMove, Expectation, Scenario } from './scenario-schema.ts'

/** A scenario that was started, as the control interface shows it. */
export interface ScenarioRun {
  name: string
  description: string
  /** `failed`: a clock move could not be made; its faults have been taken back. */
  state: 'running' | 'stopped' | 'failed'
  /** Business time, ISO 8601. */
  started_at: string
  /** Its faults with their hits; of a run that has ended, as they were then. */
  faults: ActiveFault[]
  clock: {
    explanation: string
    /** Business time after the move, ISO 8601; null while it has not been made. */
    moved_at: string | null
  }[]
  /** Why it failed and what had been applied. */
  failure: string | null
  /** What every random choice of the run derives from: given again, the same requests meet the same misbehaviour. */
  seed: number
  expect: Expectation
}

interface Move {
  move: ClockMove
  /** Successful answers to wait for. */
  left: number
  moved_at: string | null
}

/** Runs one scenario at a time: puts its faults in force, moves the clock as the client goes along, takes both back. */
export class ScenarioRunner {
  #run: Run | undefined
  readonly #deps: RunDeps

  constructor(deps: RunDeps) {
    this.#deps = deps
  }

  /** The scenario started last, running or failed. */
  get current(): ScenarioRun | undefined {
    return this.#run?.show()
  }

  /**
   * Puts the faults in force and makes the moves of the start, all or none; `tenants` are the slugs a rule may name.
   * Throws Problem scenario_running, or validation_error naming what cannot be applied.
   */
  start(scenario: Scenario, tenants: readonly string[]): ScenarioRun {
    if (this.#run?.state === 'running') {
      const detail = `The scenario ${this.#run.scenario.name} is running; stop it first.`
      throw new Problem('scenario_running', { detail })
    }
    const run = new Run(scenario, this.#deps)
    run.begin(tenants)
    this.#run = run
    return run.show()
  }

  /** Takes back what the running scenario applied. Returns the run as it ended, if there was one. */
  stop(): ScenarioRun | undefined {
    const run = this.#run
    this.#run = undefined
    if (run?.state === 'running') run.end('stopped')
    return run?.show()
  }

  /** Forgets the scenario, its faults and moves having been taken back already: for a reset. */
  forget(): void {
    this.#run = undefined
  }

  /** Call before an answer is written: moves of the clock that wait for it are made. */
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
  #faultIds = new Set<string>()
  #lastFaults: ActiveFault[] = []
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
    try {
      this.#faultIds = new Set(this.#deps.faults.add(faults, tenants, (i) => ['faults', i]).map(({ id }) => id))
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
    this.#lastFaults = this.#faultsInForce()
    for (const id of this.#faultIds) faults.remove(id)
    this.state = state
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
      faults: this.state === 'running' ? this.#faultsInForce() : this.#lastFaults,
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
    return `Its faults (${this.#faultIds.size}) were in force and have been taken back; ${moves}.`
  }

  #faultsInForce(): ActiveFault[] {
    return this.#deps.faults.list().filter(({ id }) => this.#faultIds.has(id))
  }
}

export interface RunDeps {
  faults: FaultEngine
  clock: SandboxClock
  log: Logger
  seed: number
}
