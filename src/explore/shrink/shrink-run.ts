import { parse } from 'node:path'
import { execCommandLine } from '../../exec/exec-command-line.ts'
import { type Run, type RunTerms, runAgainstSandbox } from '../../exec/sandbox-run.ts'
import type { Scenario } from '../../scenarios/scenario-schema.ts'
import type { Harm } from '../exploration.ts'
import { movedHarms } from './moved-harms.ts'
import { failureOf, isAlike, type RunFailure } from './run-failure.ts'
import { saveScenario } from './save-scenario.ts'
import { enoughInWords, MAX_FAULTS, scheduleScenario } from './schedule-scenario.ts'
import { type Shrunk, shrink } from './shrink.ts'
import { struckHarms } from './struck-harms.ts'

/** How often the command is run again at most. */
const MAX_RUNS = 64
/** Milliseconds that a run may take beyond ten times the first one, unless the caller says otherwise. */
const PATIENCE_MS = 120_000

/** How a failing run is shrunk. */
export interface ShrinkRunTerms extends RunTerms {
  /** Of the scenario that is saved. */
  file: string
  /** Flags of `exec` that make the same sandbox, and the same environment. */
  flags: readonly string[]
  /** Told in a line what comes of it. */
  say(line: string): void
}

/**
 * Looks for the fewest of the faults that struck a failing run with which the command still fails alike, and saves them as a scenario.
 * Throws OptionError when that cannot be saved, and what keeps a sandbox from starting.
 */
export async function shrinkRun(run: Run, terms: ShrinkRunTerms): Promise<void> {
  const { say, file, interruption } = terms
  const failure = failureOf(run)
  if (!failure) return say('nothing failed: there is nothing to shrink')
  const harms = run.trace ? struckHarms(run.trace) : []
  if (harms.length === 0) return say('no fault struck: there is nothing to shrink')
  if (harms.length > MAX_FAULTS)
    return say(`${harms.length} faults struck, and a scenario holds ${MAX_FAULTS}: let fewer strike, with times`)
  say(
    `looks for the fewest of ${harms.length === 1 ? 'one fault' : `${harms.length} faults`} with which it still fails`,
  )
  const fails = againBy(run, failure, terms)
  const keep = (kept: readonly Harm[]) => saveScenario(file, scenarioOf(kept, run, failure, terms), '--shrink')
  const without = await fails([])
  const reproduced = !without && (await fails(harms))
  const shrunk = reproduced ? await shrink(harms, { fails, maxRuns: MAX_RUNS, moved: movedHarms }) : undefined
  if (interruption.asked.aborted) return say('interrupted: no scenario was saved')
  if (without) return say('it fails alike without any fault: there is nothing to shrink')
  await keep(shrunk?.items ?? harms)
  for (const line of conclusion(shrunk, harms, file)) say(line)
  say(`again: ${execCommandLine(['--scenario', file], { ...terms, seed: run.report.seed })}`)
}

/** Runs the command again with these faults, in a fresh sandbox of the same seed. */
function againBy(run: Run, failure: RunFailure, terms: ShrinkRunTerms) {
  const { interruption, timeout = PATIENCE_MS + 10 * run.took } = terms
  const options = { ...terms.options, seed: run.report.seed }
  return async (harms: readonly Harm[]) => {
    if (interruption.asked.aborted) return false
    const scenario = scenarioOf(harms, run, failure, terms)
    const again = await runAgainstSandbox({ ...terms, scenario, faults: [], options, timeout }, SILENT)
    return again !== undefined && !interruption.asked.aborted && isAlike(failure, again)
  }
}

const SILENT: Parameters<typeof runAgainstSandbox>[1] = ['ignore', 'ignore', 'ignore']

/** What moved the clock moves it still. */
function scenarioOf(harms: readonly Harm[], run: Run, { words }: RunFailure, { file }: ShrinkRunTerms): Scenario {
  const foundBy = `yield-sandbox exec with seed ${run.report.seed}`
  const scenario = scheduleScenario(harms, { name: nameOf(file), came: words, foundBy })
  return { ...scenario, clock: run.scenario?.clock ?? [] }
}

/** Of a file: what a scenario may be called by. */
function nameOf(file: string): string {
  const words = parse(file)
    .name.toLowerCase()
    .match(/[a-z0-9]+/g) ?? ['shrunk']
  return words.join('-').slice(0, 64).replace(/-$/, '')
}

function conclusion(shrunk: Shrunk<Harm> | undefined, harms: readonly Harm[], file: string): string[] {
  if (shrunk) return [`${enoughInWords(shrunk, harms.length)}; saved as ${file}`]
  const count = harms.length === 1 ? 'the fault that struck is' : `all ${harms.length} faults that struck are`
  return [
    `the failure did not come again with the same faults: it depends on the client's own randomness or timing; ${count} in ${file}`,
  ]
}
