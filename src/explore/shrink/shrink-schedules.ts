import type { Scenario } from '../../scenarios/scenario-schema.ts'
import type { TrialOutcome, TrialResult } from '../exploration.ts'
import { isBad } from '../judge/judge-trial.ts'
import { repeatCommand } from '../plan/find-trial.ts'
import { type PlannedTrial, trialOf, withoutPlan } from '../plan/plan.ts'
import { runTrial, type TrialTerms } from '../run/run-trials.ts'
import { enoughInWords, movedStrikes, type Shrunk, scheduleScenario, shrink } from './shrink.ts'

/** Maximum number of runs for one schedule. */
const MAX_RUNS = 32
/** The same for a schedule that hangs: each run uses up the whole time limit. */
const MAX_HANGING_RUNS = 6

/** Dependencies of the shrinking. */
export interface ShrinkTerms extends TrialTerms {
  /** Saves a scenario. Resolves to the path of its file. */
  save(scenario: Scenario): Promise<string>
  /** @returns true if another run may begin */
  mayRun(): boolean
}

type TrialStrike = PlannedTrial['harms'][number]

/**
 * Finds the fewest faults of each random schedule that failed, and saves them as scenarios, equal ones once.
 * Resolves to all results, those of the schedules with their smallest part. Throws when a scenario cannot be saved.
 */
export async function shrinkSchedules(
  planned: readonly PlannedTrial[],
  results: readonly TrialResult[],
  terms: ShrinkTerms,
): Promise<TrialResult[]> {
  // Single faults have already been tried, and no schedule is run twice.
  const known = new Map(results.map((result) => [result.trial.id, result]))
  const files = new Map<string, string>()
  const found = new Map<string, TrialResult>()
  for (const trial of planned) {
    const result = known.get(trial.id)
    if (!trial.drawn || !result || !isBad(result.level)) continue
    const shrunk = await shrinkOne(struckOf(trial, result), result, { ...terms, known })
    if (terms.interruption.asked.aborted) break
    const { id } = trialOf(shrunk.items)
    const name = `explore-${terms.seed}-${files.size + 1}`
    const file = files.get(id) ?? (await terms.save(scenarioOf(name, shrunk.items, known.get(id) ?? result, terms)))
    files.set(id, file)
    found.set(trial.id, withSmallest(result, shrunk, file, terms))
  }
  return results.map((result) => found.get(result.trial.id) ?? result)
}

/** Number of schedules that are going to be shrunk. */
export function failingSchedules(planned: readonly PlannedTrial[], results: readonly TrialResult[]): number {
  const drawn = new Set(planned.filter((trial) => trial.drawn).map(({ id }) => id))
  return results.filter(({ trial, level }) => drawn.has(trial.id) && isBad(level)).length
}

async function shrinkOne(
  harms: readonly TrialStrike[],
  { outcome }: TrialResult,
  terms: ShrinkTerms & { known: Map<string, TrialResult> },
): Promise<Shrunk<TrialStrike>> {
  const { known, mayRun } = terms
  const single = harms.find((strike) => known.get(trialOf([strike]).id)?.outcome === outcome)
  if (single) return { items: [single], runs: 0, minimal: true }
  let stopped = false
  const fails = async (part: readonly TrialStrike[]) => {
    const trial = trialOf(part)
    if (!known.has(trial.id) && !mayRun()) stopped = true
    const result = known.get(trial.id) ?? (stopped ? undefined : await runTrial({ ...trial, drawn: true }, terms))
    if (result) known.set(trial.id, result)
    return result?.outcome === outcome
  }
  const shrunk = await shrink(harms, { fails, maxRuns: maxRunsOf(outcome), moved: movedStrikes })
  return { ...shrunk, minimal: shrunk.minimal && !stopped }
}

function maxRunsOf(outcome: TrialOutcome): number {
  return outcome === 'hung' ? MAX_HANGING_RUNS : MAX_RUNS
}

/** The planned strikes that came about. Results that were read from a file lack the planned hazards, so those come from the plan. */
function struckOf({ harms }: PlannedTrial, result: TrialResult): readonly TrialStrike[] {
  const struck = new Set(result.trial.harms.map((strike) => trialOf([strike]).id))
  return harms.filter((strike) => struck.has(trialOf([strike]).id))
}

function scenarioOf(
  name: string,
  harms: readonly TrialStrike[],
  { sentences }: TrialResult,
  { seed }: TrialTerms,
): Scenario {
  return scheduleScenario(harms, { name, came: sentences, foundBy: `yield-sandbox explore with seed ${seed}` })
}

function withSmallest(result: TrialResult, shrunk: Shrunk<TrialStrike>, file: string, terms: TrialTerms): TrialResult {
  const { items, minimal } = shrunk
  const { id, harms } = withoutPlan(trialOf(items))
  return {
    ...result,
    sentences: [...result.sentences, enoughInWords(shrunk, result.trial.harms.length)],
    // As the rest of a random schedule: faults that struck nothing do not belong to it.
    repeat: repeatCommand(result.trial.id.replace(/: .*/s, `: ${id}`), terms),
    smallest: { harms, minimal, file },
  }
}
