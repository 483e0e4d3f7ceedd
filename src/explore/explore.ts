import { BooksError } from '../books/books.ts'
import { compareBooks } from '../books/compare-books.ts'
import { SandboxClock } from '../domain/clock.ts'
import { endInWords } from '../exec/command-end.ts'
import type { OutputStream } from '../exec/run-all.ts'
import type { CommandStdio } from '../exec/run-command.ts'
import type { SandboxOptions } from '../options.ts'
import type { SandboxRecord } from '../running/sandbox-record.ts'
import { version } from '../version.ts'
import { alternativesTo, findAlternative, namesAlternative, refuseUnknownSetting } from './assumptions/alternatives.ts'
import { tryAlternatives } from './assumptions/try-alternatives.ts'
import { playApp, playAppRestartable } from './crash/play-app.ts'
import { playRestartable, playWithRecovery } from './crash/restart-condition.ts'
import type { AssumptionResult, Exploration, TrialResult } from './exploration.ts'
import { disturbanceOf } from './judge/judge-trial.ts'
import { findTrial } from './plan/find-trial.ts'
import { countPairs, planPairs } from './plan/pairs.ts'
import { changesMarket, type PlannedTrial, type PlanWish, planTrials, randomTrials, withoutPlan } from './plan/plan.ts'
import { askedNothing, type Baseline, compareBaselines } from './run/baseline.ts'
import { BaselineFailure } from './run/baseline-failure.ts'
import {
  type ExplorationRunTerms,
  ExplorationSandbox,
  type Observation,
  type RunWish,
} from './run/exploration-sandbox.ts'
import type { Stage } from './run/play-command.ts'
import { type Limits, runTrials, type TrialsRun, type TrialTerms } from './run/run-trials.ts'
import { failingSchedules, type ShrinkTerms, shrinkSchedules } from './shrink/shrink-schedules.ts'
import { barrierOf } from './twins/twin-points.ts'

/** Default time limit of a run without faults, in milliseconds. */
const BASELINE_TIMEOUT_MS = 600_000
/** Milliseconds: a client waits ninety seconds for an answer, repeats, and so do twenty more beside it on a busy machine. */
const PATIENCE_MS = 300_000

/** Options of `explore`. */
export interface ExploreTerms extends ExplorationRunTerms, Omit<PlanWish, 'crash'>, Limits {
  /** Number of random schedules after the single faults, and where their smallest failing parts are saved; undefined for none. */
  random?: Pick<ShrinkTerms, 'save'> & { count: number }
  /** Id of the only trial to run; undefined for the whole plan. */
  trial?: string | undefined
  /** Options of the sandbox, except its address and clock. */
  options: SandboxOptions
  /** The sandbox to run it within; undefined for one of its own. */
  host?: SandboxRecord | undefined
  /**
   * True to run the command under every other setting of the service as well; faults are planned then only if `kinds` names some, or the
   * command is to be killed.
   */
  assumptions?: boolean
  /** Results of an earlier exploration with the same terms, by the id of the alternative. */
  knownAssumptions?: ReadonlyMap<string, AssumptionResult>
  /** 2: after every trial, a second strike at each request that the first has led to. */
  depth: 1 | 2
  /** Frozen time of the clock in every run, ISO 8601. Undefined: now. */
  clock: string | undefined
  /** True to continue although two runs without faults differ. */
  tolerate: boolean
  /** Time limit of each run in milliseconds; undefined: {@link limitOf} the command's duration. */
  timeout: number | undefined
  /** Stream that shows the standard output of the command's first run. */
  out: OutputStream
  /** Flags of `explore` that repeat these terms. */
  flags: readonly string[]
  /** Results of an earlier exploration with the same terms, by the id of the trial. */
  known: ReadonlyMap<string, TrialResult>
  watch: ExploreWatch
}

/** Listener to the progress of an exploration. */
export interface ExploreWatch {
  /** Called before the command is run without faults for this time. */
  baseline(run: number): void
  /** Called before these trials are run. */
  planned(exploration: Exploration, trials: readonly PlannedTrial[]): void
  tried(result: TrialResult): void
  /** Called before these trials are run as well, to which the earlier ones have led. */
  further?(trials: readonly PlannedTrial[]): void
  /** Called before the command is run under so many other settings of the service. */
  assuming?(alternatives: number): void
  assumed?(result: AssumptionResult): void
  /** Called when so many random schedules have failed and are going to be shrunk. */
  shrinking?(schedules: number): void
}

/**
 * Runs the command without faults twice, then once for every hazard at every position, and compares where the money ends up.
 * Resolves to undefined when it was interrupted before anything was compared. Throws {@link BaselineFailure}, CommandStartError,
 * OptionError for a trial that does not exist, and the errors of a sandbox that cannot start.
 */
export async function explore(terms: ExploreTerms): Promise<Exploration | undefined> {
  if (terms.trial !== undefined && namesAlternative(terms.trial)) refuseUnknownSetting(terms.trial)
  const clock = new SandboxClock()
  const start = clock.wallNow()
  const moment = terms.clock ?? new Date(start).toISOString()
  const sandbox = await ExplorationSandbox.open({ ...terms.options, clock: moment }, terms.host)
  try {
    const asked = await askedCrash(sandbox, terms)
    const runs = await runBaselines(sandbox, { ...terms, crash: asked.crash })
    if (!runs) return undefined
    const [first, second] = runs
    const baseline = compareBaselines(first, second)
    if (baseline.difference !== undefined && !terms.tolerate) throw BaselineFailure.notRepeatable(baseline.difference)
    const begun: Exploration = {
      version,
      command: [...terms.command],
      seed: sandbox.seed,
      clock: moment,
      created_at: new Date(start).toISOString(),
      baseline: baselineSummary(baseline, runs),
      results: [],
      untried: null,
      took_ms: 0,
      jobs: terms.jobs,
      ...(terms.crash?.ifRestartable && { not_restartable: asked.reason ?? null }),
    }
    const timeout = terms.timeout ?? limitOf([first.took, second.took])
    const deadline = clock.wallNow() + (terms.budget ?? Number.POSITIVE_INFINITY)
    const same = { seed: sandbox.seed, clock: moment, barrier: barrierOf(baseline.places) }
    const trialTerms = { ...terms, ...same, crash: asked.crash, timeout, sandbox, expected: baseline }
    const run = { terms: trialTerms, begun, deadline, wall: clock }
    const struck = await tryStrikes(run)
    const assumptions = await trySettings(run, { unharmed: first, tried: struck.results })
    return { ...begun, ...struck, ...assumptions, took_ms: clock.wallNow() - start }
  } finally {
    await sandbox.stop()
  }
}

/** An exploration whose runs without faults were good. */
interface BegunExploration {
  terms: ExploreTerms & TrialTerms & { expected: Baseline }
  begun: Exploration
  /** Real time in milliseconds since the Unix epoch after which no run begins. */
  deadline: number
  wall: SandboxClock
}

/** Strikes at every place, at random, and once more where that makes a difference. */
async function tryStrikes({ terms, begun, deadline, wall }: BegunExploration) {
  const { expected, sandbox, trial, depth, watch } = terms
  const { places } = expected
  const drawn = randomTrials(places, { ...terms, count: terms.random?.count ?? 0 })
  const wish = { ...terms, crash: terms.crash !== undefined, ...(terms.crash?.ifRestartable && { faults: true }) }
  const canRun = (one: PlannedTrial) => sandbox.ownsMarkets || !changesMarket(one)
  const planned = () => (isOfSettingsAlone(terms) ? [] : planTrials(places, wish))
  const named = (id: string) => (namesAlternative(id) ? [] : [findTrial(id, places)])
  const trials = trial === undefined ? [...planned(), ...drawn].filter(canRun) : named(trial)
  watch.planned(begun, trials)
  const single = await runTrials(trials, terms)
  const pairs = depth === 2 && trial === undefined ? planPairs(single.results, wish).filter(canRun) : []
  const { results, untried } = await followedBy(single, pairs, { ...terms, budget: deadline - wall.wallNow() })
  const mayRun = () => !terms.interruption.asked.aborted && wall.wallNow() < deadline
  const shrunk = await shrunkBy({ ...terms, mayRun }, drawn, results)
  const count = depth === 2 && { pairs: { possible: countPairs(places, wish), reached: pairs.length } }
  return { results: shrunk, untried, ...count }
}

/** Runs the command under other settings of the service, if that is wanted, within what is left of the limits. */
async function trySettings(
  { terms, deadline, wall }: BegunExploration,
  { unharmed, tried }: { unharmed: Observation; tried: readonly TrialResult[] },
): Promise<Pick<Exploration, 'assumptions'>> {
  const { maxRuns, known, watch, clock, seed } = terms
  const alternatives = alternativesOf(terms, unharmed)
  if (!alternatives) return {}
  watch.assuming?.(alternatives.length)
  const done = tried.filter(({ trial }) => !known.has(trial.id)).length
  const assumptions = await tryAlternatives(alternatives, {
    ...terms,
    options: { ...terms.options, clock, seed },
    unharmed,
    known: terms.knownAssumptions ?? new Map(),
    maxRuns: maxRuns === undefined ? undefined : maxRuns - done,
    budget: deadline - wall.wallNow(),
  })
  return { assumptions }
}

/** How the command is to be killed, and the reason if it cannot be. Throws {@link BaselineFailure} unless kills are tried only where they can be. */
async function askedCrash(
  sandbox: ExplorationSandbox,
  terms: ExploreTerms,
): Promise<{ crash: ExploreTerms['crash']; reason?: string | undefined }> {
  const { crash, timeout = BASELINE_TIMEOUT_MS } = terms
  if (!crash?.ifRestartable) return { crash }
  const play = (stage: Stage) => playRestartable(stage, { recover: crash.recover, twins: false })
  try {
    await sandbox.run(terms, { faults: [], holding: 0, stdio: ['ignore', 'ignore', 'ignore'], timeout, play })
    return { crash }
  } catch (error) {
    if (!(error instanceof BaselineFailure) || error.notRestartable === undefined) throw error
    return { crash: undefined, reason: error.notRestartable }
  }
}

/** The other settings to run the command under; undefined where the fixture's own are all that is wanted. */
function alternativesOf({ trial, assumptions = false }: ExploreTerms, { evidence }: Observation) {
  const { settings } = evidence
  if (trial !== undefined) return namesAlternative(trial) ? [findAlternative(trial, settings)] : undefined
  if (!assumptions) return undefined
  return alternativesTo(settings)
}

/** @returns true if the command is only to be run under other settings: neither struck nor killed */
function isOfSettingsAlone({ assumptions = false, crash, kinds }: ExploreTerms): boolean {
  return assumptions && crash === undefined && kinds.length === 0
}

/** Runs the pairs that single strikes have led to, within what is left of the limits. */
async function followedBy(
  single: TrialsRun,
  pairs: readonly PlannedTrial[],
  terms: TrialTerms & { watch: ExploreWatch },
): Promise<TrialsRun> {
  const { known, maxRuns } = terms
  if (pairs.length === 0) return single
  if (single.untried)
    return { ...single, untried: { ...single.untried, trials: [...single.untried.trials, ...pairs.map(withoutPlan)] } }
  terms.watch.further?.(pairs)
  const done = single.results.filter(({ trial }) => !known.has(trial.id)).length
  const double = await runTrials(pairs, { ...terms, maxRuns: maxRuns === undefined ? undefined : maxRuns - done })
  return { results: [...single.results, ...double.results], untried: double.untried }
}

/** Adds the fewest faults to the result of every random schedule that failed. */
async function shrunkBy(
  terms: Omit<ShrinkTerms, 'save'> & Pick<ExploreTerms, 'random'> & { watch: ExploreWatch },
  drawn: readonly PlannedTrial[],
  results: TrialResult[],
): Promise<TrialResult[]> {
  const { random, watch } = terms
  const failing = failingSchedules(drawn, results)
  if (!random || failing === 0) return results
  watch.shrinking?.(failing)
  return shrinkSchedules(drawn, results, { ...terms, save: random.save })
}

/** Time limit in milliseconds of a run with faults, by the durations of the runs without. */
export function limitOf(took: readonly number[]): number {
  return PATIENCE_MS + 5 * Math.max(...took)
}

/** Runs the command twice, and shows its output the first time. */
async function runBaselines(
  sandbox: ExplorationSandbox,
  terms: ExploreTerms,
): Promise<[Observation, Observation] | undefined> {
  const runOnce = async (run: 1 | 2) => {
    terms.watch.baseline(run)
    const [out, errors] = run === 1 ? ([terms.out.fd, 'inherit'] as const) : (['ignore', 'ignore'] as const)
    const timeout = terms.timeout ?? BASELINE_TIMEOUT_MS
    const stdio: CommandStdio = ['ignore', out, errors]
    const seen = await sandbox.run(terms, { faults: [], holding: 0, stdio, timeout, ...unharmedPlay(run, terms) })
    if (seen) refuseUnlessGood(seen, { timeout, ownNamespaces: sandbox.madeByCommands })
    return seen
  }
  const first = await runOnce(1)
  const second = first && (await runOnce(2))
  return second && [first, second]
}

/** A command that is to be killed, or has a twin, must do nothing anew when it is started again, which the second run shows. */
function unharmedPlay(run: 1 | 2, { crash, twins = false }: ExploreTerms): Pick<RunWish, 'play'> {
  if (!crash && !twins) return {}
  const { app, recover } = { app: undefined, recover: undefined, ...crash }
  if (crash && app) {
    const terms = { ...crash, app }
    return { play: (stage) => (run === 1 ? playApp(stage, [], terms) : playAppRestartable(stage, terms)) }
  }
  return {
    play: (stage) => (run === 1 ? playWithRecovery(stage, recover) : playRestartable(stage, { recover, twins })),
  }
}

function refuseUnlessGood(
  seen: Observation,
  { timeout, ownNamespaces }: { timeout: number; ownNamespaces: number },
): void {
  const { before, end, audit, evidence } = seen
  if (before) throw BaselineFailure.beforeFailed(endInWords(before), before)
  const disturbance = disturbanceOf(evidence)
  if (disturbance !== undefined) throw BaselineFailure.disturbed(disturbance)
  if (end.timedOut) throw BaselineFailure.neverEnds(timeout)
  if (end.code !== 0) throw BaselineFailure.failsAlready(endInWords(end), end)
  if (seen.takenAway) throw BaselineFailure.takesFaultsAway()
  if (ownNamespaces > 0) throw BaselineFailure.usesOwnNamespaces()
  if (askedNothing(evidence.exchanges)) throw BaselineFailure.asksNothing()
  const wrong = audit.checks.find(({ ok }) => !ok)
  if (wrong) throw new Error(`the sandbox's audit fails without any fault: ${wrong.id}: ${wrong.detail}`)
  refuseWrongBooks(seen)
}

/** Nothing can be judged by books that are wrong, or lag, where nothing went wrong. */
function refuseWrongBooks({ books, evidence }: Pick<Observation, 'books' | 'evidence'>): void {
  if (books instanceof BooksError) throw BaselineFailure.booksFail(books)
  const findings = books ? compareBooks(books, evidence) : []
  if (findings.length > 0) throw BaselineFailure.booksWrong(findings.map(({ sentence }) => sentence))
}

function baselineSummary(
  { places, difference, shared }: Baseline,
  runs: readonly Observation[],
): Exploration['baseline'] {
  const [first] = runs
  return {
    exchanges: first?.evidence.exchanges.length ?? 0,
    positions: places.length,
    took_ms: runs.map(({ took }) => took),
    difference: difference ?? null,
    left_behind: first?.end.leftBehind ?? [],
    shared_keys: shared,
  }
}
