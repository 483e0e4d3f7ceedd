import { parse } from 'node:path'
import { codeOfEnd, endInWords } from '../../exec/command-end.ts'
import { execCommandLine } from '../../exec/exec-command-line.ts'
import { type Run, type RunTerms, type RunTrace, runAgainstSandbox } from '../../exec/sandbox-run.ts'
import type { Scenario } from '../../scenarios/scenario-schema.ts'
import type { Harm } from '../exploration.ts'
import { placesOf } from '../plan/positions.ts'
import { enoughInWords, MAX_FAULTS, saveScenario, scheduleScenario } from './schedule-scenario.ts'
import { movedHarms, type Shrunk, shrink } from './shrink.ts'

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

/** Makes the scenario of these harms; it keeps the clock moves of the run's scenario. */
function scenarioOf(harms: readonly Harm[], run: Run, { words }: RunFailure, { file }: ShrinkRunTerms): Scenario {
  const foundBy = `yield-sandbox exec with seed ${run.report.seed}`
  const scenario = scheduleScenario(harms, { name: scenarioNameOf(file), came: words, foundBy })
  return { ...scenario, clock: run.scenario?.clock ?? [] }
}

/** Derives a valid name of a scenario from the file's name. */
function scenarioNameOf(file: string): string {
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

/**
 * The harms of a run, one for each request that was struck, in their order: they no longer depend on chance or on counting.
 * Faults that a request brought along in its header belong to the client and are left out.
 */
export function struckHarms({ exchanges, rules, endUsers }: RunTrace): Harm[] {
  const served = exchanges.filter(({ operation }) => operation !== null)
  const places = placesOf(served, new Set(endUsers))
  return places.flatMap(({ position }, i) =>
    (served[i]?.faults ?? []).flatMap(({ id }): Harm[] => {
      const rule = rules.find((one) => one.id === id)
      if (!rule) return []
      const { kind, phase, with: parameters } = rule
      const title = phase === undefined ? kind : `${kind} (${phase.replaceAll('_', ' ')})`
      const doing = { kind, phase, ...(parameters !== undefined && { with: parameters }) } as Harm['hazard']['rule']
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
