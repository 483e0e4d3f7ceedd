import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { OPERATIONS, type Operation } from '../domain/operations.ts'
import { codeOfSignal } from '../exec/command-end.ts'
import { parseRename } from '../exec/command-environment.ts'
import { USAGE } from '../exec/exit-code.ts'
import { prepareFiles } from '../exec/report-files.ts'
import type { Interruption } from '../exec/run-command.ts'
import type { Exploration } from '../explore/exploration.ts'
import { type ExploreWatch, explore } from '../explore/explore.ts'
import { HAZARDS } from '../explore/plan/hazards.ts'
import { STRIKES, untriedInWords } from '../explore/plan/plan.ts'
import { explorationDocument } from '../explore/render/document-of.ts'
import { renderExplorationText } from '../explore/render/text.ts'
import {
  type ExplorationFile,
  explorationFile,
  sharedExploration,
  writeExploration,
} from '../explore/results/exploration-files.ts'
import { ResultsFile } from '../explore/results/results-file.ts'
import { type KeptResults, readResults } from '../explore/results/resume.ts'
import { saveScenario } from '../explore/shrink/shrink.ts'
import { explorationExitCode } from '../explore/summary.ts'
import { twinOf } from '../explore/twins/twin-points.ts'
import { shellWords, shorten } from '../support/foreign-text.ts'
import { suggest } from '../support/nearest.ts'
import { version } from '../version.ts'
import { print } from './control-options.ts'
import { ExploreDisplay } from './explore-display.ts'
import { sandboxToJoin, withFixturesOf, within } from './join.ts'
import { keepTickShape, watchSignals } from './own-process.ts'
import { atLeastOne, notEmpty, positiveDuration, wholeNumber } from './parse-argument.ts'
import { type CrashFlags, crashFlags, hasFixedPort, restartTerms } from './restart-terms.ts'
import {
  execFlags,
  exitAtOnce,
  outputFor,
  type RunFlags,
  runningCommand,
  sandboxOptions,
  say,
  withRunFlags,
} from './run-flags.ts'
import { screenOf } from './screen-of.ts'

/** Most random schedules that one exploration tries. */
const MAX_RANDOM = 10_000

interface Flags extends RunFlags, CrashFlags {
  assumptions?: boolean
  twins?: boolean
  faults: string[]
  only: Operation[]
  depth: 1 | 2
  random: number
  save: string
  jobs?: number
  maxRuns?: number
  budget?: number
  timeout?: number
  tolerate?: boolean
  results: string
  resume?: boolean
  trial?: string
  allowInconclusive?: boolean
}

/** `explore`: runs a command once for every point where something can go wrong, and compares the resulting money. */
export function exploreCommand(): Command {
  const command = runningCommand(
    'explore',
    'Run a command once for everything that can go wrong, and compare the money. Exits with 3 when it went astray.',
  )
    .option('--crash', 'kill the command at every point, and start it again: does it pay twice, or never?')
    .option(
      '--recover <command>',
      'with --crash: run this by the shell after a kill, instead of the command itself',
      notEmpty,
    )
    .option(
      '--kill <command>',
      'with --crash: run this by the shell to kill what is not a child of the command',
      notEmpty,
    )
    .option('--app <command>', 'with --crash: start this server first, and kill it instead of the command', notEmpty)
    .option('--ready <url or command>', 'with --app: it can be used when this answers 2xx, or ends with 0', notEmpty)
    .option(
      '--until <command>',
      'with --app: a run is over when this ends with 0 (default: 2s without a request)',
      notEmpty,
    )
    .option('--assumptions', 'run the command under every other setting of the service: the live one may have either')
    .option('--twins', 'run the command twice at once, the second one started at every write: do both of them pay?')
    .option('--faults <kinds>', 'only these faults, by kind or by name, separated by commas', wordsOf(FAULTS), [])
    .option('--only <operations>', 'only at these operations, separated by commas', wordsOf(OPERATIONS), [])
    .addOption(
      new Option('--depth <n>', '2: the requests that a fault or a kill has led to are hit as well')
        .argParser(depth)
        .default(1),
    )
    .addOption(
      new Option('--random <n>', 'so many random schedules of several faults, after the single ones')
        .argParser(schedules)
        .default(0),
    )
    .option('--save <folder>', 'where the scenarios of those that fail are put', '.')
    .option('--jobs <n>', 'how many runs at a time (default: the number of processors)', atLeastOne)
    .option('--max-runs <n>', 'stop after so many runs', atLeastOne)
    .option('--budget <d>', 'begin no run after this time', positiveDuration)
    .option('--timeout <d>', 'how long a run may take (default: 5m and five times the command alone)', positiveDuration)
    .option('--tolerate', 'go on although two runs without faults differ')
    .option('--results <file>', 'where results are kept as they come', 'yield-explore.jsonl')
    .option('--resume', 'go on with the results of an earlier run of the same')
    .addOption(
      new Option('--trial <id>', 'this one only, by the name that is shown; no results are kept').conflicts(MANY),
    )
    .option('--allow-inconclusive', 'exit with 0 though transfers were not tried')
  return withRunFlags(command, 'moment at which the clock of every run stands (default: now)')
    .addHelpText('after', EXAMPLES)
    .action(run)
}

/** Flags that have no meaning with `--trial`, which runs one trial: there is nothing to choose or to resume. */
const MANY = ['assumptions', 'faults', 'only', 'depth', 'random', 'maxRuns', 'budget', 'resume']

const KINDS: readonly string[] = [...new Set(HAZARDS.map(({ rule }) => rule.kind))]
const FAULTS = [...KINDS, ...STRIKES.map(({ id }) => id)]

const EXAMPLES = `
Kinds of fault: ${KINDS.join(', ')}; or a single one: reset-after-broadcast. docs/explore.md names them all.
Operations: ${OPERATIONS.join(', ')}.

The command is told where the sandbox is as by exec. It has no standard input; what it prints is shown of its first run.

Exit codes: 0 no money went astray, 3 it did or a run hung, 4 nothing could be explored, transfers were not tried,
or it breaks under another setting; the command's own when it fails without any fault; 130 and 143 interrupted: what there is until then is shown, and --resume goes on.

Examples:
  yield-sandbox explore -- npm test
  yield-sandbox explore --only deposit,withdraw --faults drop_connection --report explore.html -- npm test
  yield-sandbox explore --crash -- node worker.js
  yield-sandbox explore --assumptions -- npm test
  yield-sandbox explore --crash --app 'PORT=$YIELD_APP_PORT node server.js' \\
    --ready 'http://127.0.0.1:$YIELD_APP_PORT/health' -- npm test
  yield-sandbox explore --twins -- node worker.js
  yield-sandbox explore --before 'npm run db:reset' --jobs 1 --budget 10m -- npm test
  yield-sandbox explore --books 'sh books.sh' -- npm test
  yield-sandbox explore --random 100 --seed 7 -- npm test
  yield-sandbox explore --resume -- npm test
  yield-sandbox explore --json -- npm test > explore.json
  yield-sandbox explore --trial 'deposit#1@alice reset-after-broadcast' -- npm test`

async function run(command: string[], given: Flags): Promise<void> {
  keepTickShape()
  const host = await sandboxToJoin(given)
  const flags = withFixturesOf(given, host)
  const files = flags.report.map(explorationFile)
  const renames = flags.env.map(parseRename)
  const kept = flags.resume ? readResults(flags.results, wantedOf(command, flags)) : undefined
  await prepareFiles(files)
  const options = await sandboxOptions({ ...flags, seed: flags.seed ?? kept?.header.seed })
  const crash = restartTerms(flags)
  const twins = flags.twins || namedIn(flags).some((name) => twinOf(name))
  // What holds an exchange must know at once that it is held: the sandbox must be this process.
  const joined = crash || twins ? undefined : host
  const interruption = watchSignals()
  const { faults, only, depth, maxRuns, budget, timeout, before, tolerate = false, allowInconclusive = false } = flags
  const exploring = (watch: ExploreWatch) =>
    explore({
      ...{ command, before, renames, env: process.env, interruption, kinds: faults, operations: only, depth },
      ...{ maxRuns, budget, timeout, tolerate, options, watch, trial: flags.trial, crash, twins, books: flags.books },
      host: joined,
      restarts: crash ? 0 : flags.restarts,
      random: {
        count: flags.random,
        save: (scenario) => saveScenario(join(flags.save, `${scenario.name}.yaml`), scenario, '--save'),
      },
      jobs: flags.jobs ?? (hasFixedPort(flags.ready) ? 1 : availableParallelism()),
      out: outputFor(flags),
      clock: flags.clock ?? kept?.header.clock,
      flags: flagsOfRun(flags),
      known: kept?.results ?? new Map(),
      assumptions: flags.assumptions ?? false,
      knownAssumptions: kept?.assumptions ?? new Map(),
    })
  const exploration = await within(joined, () => watched(flags, kept, exploring))
  process.exitCode = await conclude(exploration, { files, interruption, flags, allowInconclusive })
  exitAtOnce()
}

/** Words that may be names of what is to be tried. */
function namedIn({ faults, trial }: Flags): string[] {
  return [...faults, ...(trial?.split(/[ +]/) ?? [])]
}

/** Shows results as they come, and writes them to the results file. */
async function watched(
  flags: Flags,
  kept: KeptResults | undefined,
  exploring: (watch: ExploreWatch) => ReturnType<typeof explore>,
): Promise<Exploration | undefined> {
  const display = ExploreDisplay.ofThisProcess()
  let results: ResultsFile | undefined
  try {
    return await exploring({
      baseline: (run) => display.baseline(run),
      planned(begun, trials) {
        const known = trials.flatMap(({ id }) => kept?.results.get(id) ?? [])
        const change = kept?.changeOf(trials)
        if (change !== undefined) say(change)
        if (flags.faults.length === 0 && flags.trial === undefined && !flags.crash && !flags.assumptions)
          say(untriedInWords())
        // A single trial leaves the results of all trials unchanged.
        if (flags.trial === undefined) {
          const of = { ...begun, flags: sameFlags(flags), trials }
          results = ResultsFile.begin(flags.results, of, [...known, ...(kept?.assumptions.values() ?? [])])
        }
        display.planned(trials, known)
      },
      tried(result) {
        results?.add(result)
        display.tried(result)
      },
      further: (trials) => display.further(trials),
      assuming: (alternatives) => display.assuming(alternatives),
      assumed(result) {
        results?.add(result)
        display.assumed(result)
      },
      shrinking: (schedules) => display.shrinking(schedules),
    })
  } finally {
    display.end()
  }
}

interface Conclusion {
  files: readonly ExplorationFile[]
  interruption: Interruption
  flags: Pick<Flags, 'results' | 'trial' | 'verbose' | 'json'>
  allowInconclusive: boolean
}

/** Shows and writes the result. Resolves to the exit code. */
async function conclude(exploration: Exploration | undefined, terms: Conclusion): Promise<number> {
  const { files, interruption, flags, allowInconclusive } = terms
  const signal: NodeJS.Signals | undefined = interruption.asked.reason
  if (!exploration) return codeOfSignal(signal ?? 'SIGINT')
  process.stderr.write(
    `\n${renderExplorationText(exploration, { ...screenOf(process.stderr), verbose: flags.verbose ?? false })}`,
  )
  const isUntried = exploration.assumptions?.some(({ outcome }) => outcome === 'untried') ?? false
  if ((exploration.untried || isUntried) && flags.trial === undefined)
    say(`what was found is in ${flags.results}; the same command line with --resume goes on`)
  if (flags.json) print(flags, explorationDocument(sharedExploration(exploration, process.env.HOME)), [])
  const written = await writeExploration(files, exploration, say, process.env.HOME)
  if (signal !== undefined) return codeOfSignal(signal)
  return explorationExitCode(exploration, allowInconclusive) || (written ? 0 : USAGE)
}

/** Properties that kept results must have for the exploration to go on from them. */
function wantedOf(command: readonly string[], flags: Flags) {
  return {
    version,
    command: shellWords(command),
    flags: shellWords(sameFlags(flags)),
    seed: flags.seed,
    clock: flags.clock,
  }
}

/** Flags that every run must repeat to be the same; the number of runs, and of runs at a time, do not matter. */
function sameFlags({ faults, only, depth, ...flags }: Flags): string[] {
  return [
    ...(flags.crash ? ['--crash'] : []),
    ...(flags.assumptions ? ['--assumptions'] : []),
    ...(flags.twins ? ['--twins'] : []),
    ...(faults.length === 0 ? [] : ['--faults', faults.join(',')]),
    ...(only.length === 0 ? [] : ['--only', only.join(',')]),
    ...(depth === 1 ? [] : ['--depth', String(depth)]),
    ...flagsOfRun(flags),
  ]
}

/** Flags of every single run. */
function flagsOfRun({ timeout, tolerate, ...flags }: Omit<Flags, 'faults' | 'only' | 'depth'>): string[] {
  return [
    ...crashFlags(flags),
    ...(timeout === undefined ? [] : ['--timeout', `${timeout}ms`]),
    ...(tolerate ? ['--tolerate'] : []),
    ...execFlags(flags),
  ]
}

function wordsOf<W extends string>(known: readonly W[]) {
  return (text: string): W[] =>
    text.split(',').map((part) => {
      const word = known.find((one) => one === part.trim())
      if (word !== undefined) return word
      throw new InvalidArgumentError(`"${shorten(part.trim())}" is not known; ${suggest(part.trim(), known)}`)
    })
}

function depth(text: string): number {
  if (text === '1' || text === '2') return Number(text)
  throw new InvalidArgumentError('It must be 1 or 2.')
}

function schedules(text: string): number {
  const count = wholeNumber(text)
  if (count <= MAX_RANDOM) return count
  throw new InvalidArgumentError(`It must be at most ${MAX_RANDOM}.`)
}
