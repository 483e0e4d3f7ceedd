import { SandboxClock } from '../../domain/clock.ts'
import { endInAWord } from '../../exec/command-end.ts'
import type { CommandStdio } from '../../exec/run-command.ts'
import { allInOrder } from '../../support/waiting.ts'
import { playApp } from '../crash/play-app.ts'
import { type Kill, playCrash, type RestartTerms } from '../crash/play-crash.ts'
import type { Exploration, TrialResult } from '../exploration.ts'
import { judgeTrial, type TrialExpectation, type TrialJudgement } from '../judge/judge-trial.ts'
import { shownTrial } from '../judge/show-trial.ts'
import { repeatCommand, type SameTerms } from '../plan/find-trial.ts'
import { type AskedAnyway, furtherPlaces } from '../plan/pairs.ts'
import { faultRules, heldFor, killsOf, meetingOf, type PlannedTrial, waits, withoutPlan } from '../plan/plan.ts'
import { playTwins } from '../twins/play-twins.ts'
import type { Barrier } from '../twins/twin-points.ts'
import type { ExplorationRunTerms, ExplorationSandbox, Observation, RunWish } from './exploration-sandbox.ts'
import type { Played, Stage } from './play-command.ts'

/** Number of runs that mostly wait which are run at once in place of one that works. */
const WAITING_WIDTH = 8

/** Limits of an exploration. */
export interface Limits {
  /** Number of runs at a time. */
  jobs: number
  /** Maximum number of trials; undefined for all. */
  maxRuns: number | undefined
  /** Milliseconds after which no further trial begins; undefined for no limit. */
  budget: number | undefined
}

/** Options and dependencies of trials. */
export interface TrialTerms extends ExplorationRunTerms, SameTerms, Limits {
  sandbox: ExplorationSandbox
  expected: TrialExpectation & AskedAnyway
  /** 2: the result of a trial also has the requests at which a second strike may follow. */
  depth: 1 | 2
  /** Time limit of each run, in milliseconds. */
  timeout: number
  /** Where twins that are started at once wait for each other; undefined if the unharmed run writes nothing. */
  barrier?: Barrier | undefined
  known: ReadonlyMap<string, TrialResult>
  watch: { tried(result: TrialResult): void }
}

/** Results of trials, and those that were not run. */
export type TrialsRun = Pick<Exploration, 'results' | 'untried'>

/** Runs trials side by side, in their order; those that wait come last. When one cannot be run, throws its error. */
export async function runTrials(trials: readonly PlannedTrial[], terms: TrialTerms): Promise<TrialsRun> {
  const {
    jobs,
    maxRuns = Number.POSITIVE_INFINITY,
    budget = Number.POSITIVE_INFINITY,
    known,
    interruption,
    watch,
  } = terms
  const clock = new SandboxClock()
  const deadline = clock.wallNow() + budget
  const results = new Map<string, TrialResult>(known)
  const open = trials.filter(({ id }) => !known.has(id))
  const waiting = open.filter(waits)
  const working = open.filter((trial) => !waits(trial))
  let begun = 0
  let reason: string | undefined
  const mayBegin = () => {
    if (interruption.asked.aborted) reason ??= 'interrupted'
    else if (begun >= maxRuns) reason ??= `--max-runs ${maxRuns}`
    else if (clock.wallNow() >= deadline) reason ??= `--budget ${budget / 1000}s`
    return reason === undefined
  }
  const lane = async (queue: PlannedTrial[]) => {
    while (queue.length > 0 && mayBegin()) {
      begun++
      const trial = queue.shift()
      const result = trial && (await runTrial(trial, terms))
      if (!result) continue
      results.set(result.trial.id, result)
      watch.tried(result)
    }
  }
  const inLanes = (queue: PlannedTrial[], width: number) => {
    return allInOrder(Array.from({ length: Math.min(width, queue.length) }, () => lane(queue)))
  }
  await inLanes(working, jobs)
  await inLanes(waiting, jobs * WAITING_WIDTH)
  const done = trials.flatMap(({ id }) => results.get(id) ?? [])
  const left = trials.filter(({ id }) => !results.has(id)).map(withoutPlan)
  return { results: done, untried: left.length === 0 ? null : { trials: left, reason: reason ?? 'interrupted' } }
}

/** Runs one trial. Resolves to undefined when it was interrupted. Throws when it cannot be run. */
export async function runTrial(planned: PlannedTrial, terms: TrialTerms): Promise<TrialResult | undefined> {
  const { sandbox, timeout, expected } = terms
  const faults = faultRules(planned.harms)
  const holding = heldFor(planned)
  const stdio: CommandStdio = ['ignore', 'ignore', 'ignore']
  const play = playOf(planned, terms)
  const seen = await sandbox.run(terms, { faults, holding, stdio, timeout, ...play })
  if (!seen) return undefined
  const { trial, struck } = planned.drawn ? thatStruck(planned, seen.struck) : { trial: planned, struck: seen.struck }
  const further = terms.depth === 2 ? { further: furtherPlaces(planned.harms, seen, expected) } : {}
  const judgement = judgeTrial({ ...seen, struck }, expected)
  return { ...trialResult(trial, seen, judgement, terms), ...shownTrial(seen, judgement, expected), ...further }
}

function playKilled(kills: readonly Kill[], { app, ...crash }: RestartTerms): (stage: Stage) => Promise<Played> {
  return (stage) => (app ? playApp(stage, kills, { ...crash, app }) : playCrash(stage, kills, crash))
}

/** How the command is run in a trial that is not of faults alone. */
function playOf({ harms }: PlannedTrial, { crash, barrier }: TrialTerms): Pick<RunWish, 'play'> {
  const kills = killsOf(harms)
  if (crash && kills.length > 0) return { play: playKilled(kills, crash) }
  const meeting = meetingOf(harms)
  return meeting ? { play: (stage) => playTwins(stage, meeting, barrier) } : {}
}

/** The trial without the faults that never struck; unchanged when none struck. */
function thatStruck(
  trial: PlannedTrial,
  struck: readonly boolean[],
): { trial: PlannedTrial; struck: readonly boolean[] } {
  const harms = trial.harms.filter((_, i) => struck[i])
  return harms.length === 0 ? { trial, struck } : { trial: { ...trial, harms }, struck: harms.map(() => true) }
}

function trialResult(
  trial: PlannedTrial,
  { end, took, overhead, report }: Observation,
  judgement: TrialJudgement,
  terms: TrialTerms,
): TrialResult {
  const failed = report.findings.filter(({ outcome }) => outcome === 'failed')
  return {
    trial: withoutPlan(trial),
    ...judgement,
    findings: failed.map(({ id, title, explanation, fix = '' }) => ({ id, title, explanation, fix })),
    end: endInAWord(end),
    took_ms: Math.round(took),
    overhead_ms: Math.round(overhead),
    repeat: repeatCommand(trial.id, terms),
  }
}
