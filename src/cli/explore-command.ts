import { availableParallelism } from 'node:os'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { FaultRule } from '../control/contract.ts'
import { OPERATIONS, type Operation } from '../domain/operations.ts'
import { parseRename } from '../exec/command-environment.ts'
import { codeOfSignal } from '../exec/exit-code.ts'
import { prepareFolders } from '../exec/report-files.ts'
import type { Exploration, TrialResult } from '../explore/exploration.ts'
import { type ExplorationFile, explorationFile, writeExploration } from '../explore/exploration-files.ts'
import { explore } from '../explore/explore.ts'
import { HAZARDS } from '../explore/hazards.ts'
import { renderText } from '../explore/render/text.ts'
import { ResultsFile, readResults } from '../explore/results-file.ts'
import { exitCodeOf } from '../explore/summary.ts'
import { suggest } from '../support/nearest.ts'
import { version } from '../version.ts'
import { delayOf } from './default-delay.ts'
import { ExploreDisplay } from './explore-display.ts'
import { keepTickShape } from './keep-tick-shape.ts'
import { createLog, LOG_LEVELS } from './log.ts'
import { atLeastOne, positiveDuration, wholeNumber } from './parse-argument.ts'
import { wantsColour } from './wants-colour.ts'
import { watchSignals } from './watch-signals.ts'

interface Flags {
  faults: FaultRule['kind'][]
  only: Operation[]
  depth: 1 | 2
  jobs?: number
  maxRuns?: number
  budget?: number
  timeout?: number
  before?: string
  tolerate?: boolean
  results: string
  resume?: boolean
  report: string[]
  env: string[]
  fixtures?: string
  seed?: number
  confirmationDelay?: string
  clock?: string
  logLevel: string
}

/** `explore`: runs a command once for every point where something can go wrong, and compares where the money ends up. */
export function exploreCommand(): Command {
  const texts = (text: string, earlier: string[]) => [...earlier, text]
  return new Command('explore')
    .description(
      'Run a command once for everything that can go wrong, and compare the money. Exits with 3 when it went astray.',
    )
    .usage('[options] -- <command...>')
    .argument('<command...>', 'what to run, with its arguments')
    .option('--faults <kinds>', 'only these kinds of fault, separated by commas', wordsOf(KINDS), [])
    .option('--only <operations>', 'only at these operations, separated by commas', wordsOf(OPERATIONS), [])
    .addOption(new Option('--depth <n>', '2: the retry is hit as well').argParser(depth).default(1))
    .option('--jobs <n>', 'how many runs at a time (default: the number of processors)', atLeastOne)
    .option('--max-runs <n>', 'stop after so many runs', atLeastOne)
    .option('--budget <d>', 'begin no run after this time', positiveDuration)
    .option('--timeout <d>', 'how long a run may take (default: 2m and five times the command alone)', positiveDuration)
    .option('--before <command>', 'run this by the shell before each run, such as a reset of your database')
    .option('--tolerate', 'go on although two runs without faults differ')
    .option('--results <file>', 'where results are kept as they come', 'yield-explore.jsonl')
    .option('--resume', 'go on with the results of an earlier run of the same')
    .option('--report <file>', 'write the report, its form by the suffix; may be repeated', texts, [])
    .option('--env <THEIRS=YIELD_NAME>', 'give a variable by another name, too; may be repeated', texts, [])
    .option('--fixtures <file>', 'YAML or JSON file (default: the shipped default.yaml)')
    .option('--seed <n>', 'every random choice derives from it (default: a fresh one)', wholeNumber)
    .option('--confirmation-delay <d>', '0, 2s, 5s-30s or realistic (default: 0)')
    .option('--clock <iso>', 'moment at which the clock of every run stands (default: now)')
    .addOption(
      new Option('--log-level <level>', "how much of the sandbox's log to show").choices(LOG_LEVELS).default('error'),
    )
    .action(run)
}

const KINDS = [...new Set(HAZARDS.map(({ rule }) => rule.kind))]

async function run(command: string[], flags: Flags): Promise<void> {
  keepTickShape()
  const files = flags.report.map(explorationFile)
  await prepareFolders(files)
  const interruption = watchSignals()
  const display = new ExploreDisplay(process.stderr, wantsColour(process.stderr))
  const same = flagsOf(flags)
  const kept = flags.resume ? readResults(flags.results, { command, flags: same, version }) : undefined
  const known = kept?.results ?? new Map<string, TrialResult>()
  const seed = flags.seed ?? kept?.header.seed
  let results: ResultsFile | undefined
  const exploration = await explore({
    command,
    before: flags.before,
    renames: flags.env.map(parseRename),
    env: process.env,
    interruption,
    kinds: flags.faults,
    operations: flags.only,
    depth: flags.depth,
    jobs: flags.jobs ?? availableParallelism(),
    maxRuns: flags.maxRuns,
    budget: flags.budget,
    timeout: flags.timeout,
    tolerate: flags.tolerate ?? false,
    clock: flags.clock ?? kept?.header.clock,
    flags: same,
    known,
    options: {
      logger: createLog(flags.logLevel),
      confirmationDelay: flags.confirmationDelay ?? (await delayOf(flags.fixtures)),
      ...(flags.fixtures !== undefined && { fixtures: flags.fixtures }),
      ...(seed !== undefined && { seed }),
    },
    watch: {
      baseline: (run) => display.baseline(run),
      planned(begun, trials) {
        const wanted = trials.flatMap(({ id }) => known.get(id) ?? [])
        results = ResultsFile.begin(flags.results, begun, same, wanted)
        display.planned(begun, trials.length, wanted)
      },
      tried(result) {
        results?.add(result)
        display.tried(result)
      },
    },
  })
  display.end()
  process.exitCode = await conclude(exploration, { files, signal: interruption.asked.reason, results: flags.results })
  // Left to itself, Node first closes what is still open, and was seen to wait for that for ever.
  process.once('exit', () => process.exit())
}

interface Conclusion {
  files: readonly ExplorationFile[]
  /** The signal that interrupted it. */
  signal: NodeJS.Signals | undefined
  /** Path of the results. */
  results: string
}

/** Shows and writes what was found out. Resolves to the exit code. */
async function conclude(exploration: Exploration | undefined, { files, signal, results }: Conclusion): Promise<number> {
  if (!exploration) return codeOfSignal(signal ?? 'SIGINT')
  process.stderr.write(`\n${renderText(exploration, { colour: wantsColour(process.stderr) })}`)
  if (exploration.untried)
    process.stderr.write(`yield-sandbox: what was found is in ${results}; the same with --resume goes on\n`)
  await writeExploration(files, exploration)
  return signal === undefined ? exitCodeOf(exploration) : codeOfSignal(signal)
}

/** Flags of `exec` that make the same sandbox, and the same environment. */
function flagsOf({ fixtures, confirmationDelay, env }: Flags): string[] {
  return [
    ...(fixtures === undefined ? [] : ['--fixtures', fixtures]),
    ...(confirmationDelay === undefined ? [] : ['--confirmation-delay', confirmationDelay]),
    ...env.flatMap((rename) => ['--env', rename]),
  ]
}

function wordsOf<W extends string>(known: readonly W[]) {
  return (text: string): W[] =>
    text.split(',').map((part) => {
      const word = known.find((one) => one === part.trim())
      if (word !== undefined) return word
      throw new InvalidArgumentError(`"${part.trim()}" is not known; ${suggest(part.trim(), known)}`)
    })
}

function depth(text: string): number {
  if (text === '1' || text === '2') return Number(text)
  throw new InvalidArgumentError('It must be 1 or 2.')
}
