import { parse } from 'node:path'
import { codeOfEnd, endInWords } from '../../exec/command-end.ts'
import { execCommandLine } from '../../exec/exec-command-line.ts'
import { type Run, type RunTerms, type RunTrace, runAgainstSandbox } from '../../exec/sandbox-run.ts'
import type { Scenario } from '../../scenarios/scenario-schema.ts'
import type { Hazard, PlannedStrike } from '../exploration.ts'
import { placesOf } from '../plan/positions.ts'
import {
  enoughInWords,
  MAX_FAULTS,
  movedStrikes,
  type Shrunk,
  saveScenario,
  scheduleScenario,
  shrink,
} from './shrink.ts'

/** Maximum number of further runs of the command. */
const MAX_RUNS = 64
/** Default time limit of a run: ten times the first run, and so many milliseconds. */
const PATIENCE_MS = 120_000

/** Options of shrinking a failing run. */
export interface ShrinkRunTerms extends RunTerms {
  /** Path of the saved scenario. */
  file: string
  /** Flags of `exec` that give the same sandbox and the same environment. */
  flags: readonly string[]
  /** Reports progress and result in a line. */
  say(line: string): void
}

/**
 * Finds the fewest faults of a failing run with which the command still fails in the same way, and saves them as a scenario.
 * Throws OptionError when that cannot be saved, and the errors of a sandbox that cannot start.
 */
export async function shrinkRun(run: Run, terms: ShrinkRunTerms): Promise<void> {
  const { say, file, interruption } = terms
  const failure = runFailure(run)
  if (!failure) return say('nothing failed: there is nothing to shrink')
  const strikes = run.trace ? strikesOf(run.trace) : []
  if (strikes.length === 0) return say('no fault struck: there is nothing to shrink')
  if (strikes.length > MAX_FAULTS)
    return say(`${strikes.length} faults struck, and a scenario holds ${MAX_FAULTS}: let fewer strike, with times`)
  say(
    `looks for the fewest of ${strikes.length === 1 ? 'one fault' : `${strikes.length} faults`} with which it still fails`,
  )
  const fails = againBy(run, failure, terms)
  const keep = (kept: readonly PlannedStrike[]) => saveScenario(file, scenarioOf(kept, run, failure, terms), '--shrink')
  const without = await fails([])
  const reproduced = !without && (await fails(strikes))
  const shrunk = reproduced ? await shrink(strikes, { fails, maxRuns: MAX_RUNS, moved: movedStrikes }) : undefined
  if (interruption.asked.aborted) return say('interrupted: no scenario was saved')
  if (without) return say('it fails alike without any fault: there is nothing to shrink')
  await keep(shrunk?.items ?? strikes)
  for (const line of conclusion(shrunk, strikes, file)) say(line)
  say(`again: ${execCommandLine(['--scenario', file], { ...terms, seed: run.report.seed })}`)
}

/** Runs the command again with these faults, in a fresh sandbox of the same seed. */
function againBy(run: Run, failure: RunFailure, terms: ShrinkRunTerms) {
  const { interruption, timeout = PATIENCE_MS + 10 * run.took } = terms
  const options = { ...terms.options, seed: run.report.seed }
  return async (strikes: readonly PlannedStrike[]) => {
    if (interruption.asked.aborted) return false
    const scenario = scenarioOf(strikes, run, failure, terms)
    const again = await runAgainstSandbox({ ...terms, scenario, faults: [], options, timeout }, SILENT)
    return again !== undefined && !interruption.asked.aborted && isAlike(failure, again)
  }
}

const SILENT: Parameters<typeof runAgainstSandbox>[1] = ['ignore', 'ignore', 'ignore']

/** Makes the scenario of these strikes; it keeps the clock moves of the run's scenario. */
function scenarioOf(
  strikes: readonly PlannedStrike[],
  run: Run,
  { words }: RunFailure,
  { file }: ShrinkRunTerms,
): Scenario {
  const foundBy = `yield-sandbox exec with seed ${run.report.seed}`
  const scenario = scheduleScenario(strikes, { name: scenarioNameOf(file), came: words, foundBy })
  return { ...scenario, clock: run.scenario?.clock ?? [] }
}

/** Derives a valid name of a scenario from the file's name. */
function scenarioNameOf(file: string): string {
  const words = parse(file)
    .name.toLowerCase()
    .match(/[a-z0-9]+/g) ?? ['shrunk']
  return words.join('-').slice(0, 64).replace(/-$/, '')
}

function conclusion(
  shrunk: Shrunk<PlannedStrike> | undefined,
  strikes: readonly PlannedStrike[],
  file: string,
): string[] {
  if (shrunk) return [`${enoughInWords(shrunk, strikes.length)}; saved as ${file}`]
  const count = strikes.length === 1 ? 'the fault that struck is' : `all ${strikes.length} faults that struck are`
  return [
    `the failure did not come again with the same faults: it depends on the client's own randomness or timing; ${count} in ${file}`,
  ]
}

/**
 * Returns the strikes of a run in their order, one for each request that was struck, to be planned again without chance or counting.
 * Faults that a request brought in its header are the client's own, and are left out.
 */
export function strikesOf({ exchanges, rules, endUsers }: RunTrace): PlannedStrike[] {
  const served = exchanges.filter(({ operation }) => operation !== null)
  const places = placesOf(served, new Set(endUsers))
  return places.flatMap(({ position }, i) =>
    (served[i]?.faults ?? []).flatMap(({ id }): PlannedStrike[] => {
      const rule = rules.find((one) => one.id === id)
      if (!rule) return []
      const { kind, phase, with: parameters } = rule
      const title = phase === undefined ? kind : `${kind} (${phase.replaceAll('_', ' ')})`
      const doing = { kind, phase, ...(parameters !== undefined && { with: parameters }) } as Hazard['rule']
      return [{ position, hazard: { id: `${kind}-${phase}`, title, rule: doing } }]
    }),
  )
}

/** A description of a run's failure. */
export interface RunFailure {
  /** Ids of the contradicted findings. */
  findings: readonly string[]
  /** Exit code for the end of the command; 0 when it ended well. */
  code: number
  /** One sentence each, without a full stop. */
  words: readonly string[]
}

/** Undefined when no finding failed and the command ended well. Failures that a baseline accepts do not count. */
export function runFailure({ report, end }: Pick<Run, 'report' | 'end'>): RunFailure | undefined {
  const contradicted = report.findings.filter(({ outcome, accepted }) => outcome === 'failed' && accepted === undefined)
  const code = codeOfEnd(end)
  if (contradicted.length === 0 && code === 0) return undefined
  const words = [...contradicted.map(({ title }) => title.replace(/\.$/, '')), ...(code === 0 ? [] : [endInWords(end)])]
  return { findings: contradicted.map(({ id }) => id), code, words }
}

/** @returns true if a run fails as an earlier one did: in the same findings or, if there were none, with the same code */
export function isAlike(failure: RunFailure, run: Pick<Run, 'report' | 'end'>): boolean {
  const other = runFailure(run)
  if (!other) return false
  return failure.findings.length > 0
    ? failure.findings.every((id) => other.findings.includes(id))
    : failure.code === other.code
}
