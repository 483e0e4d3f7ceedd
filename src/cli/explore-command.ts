import { availableParallelism } from 'node:os'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { FaultRule } from '../control/contract.ts'
import { OPERATIONS, type Operation } from '../domain/operations.ts'
import { parseRename } from '../exec/command-environment.ts'
import { prepareFolders, reportFile } from '../exec/report-files.ts'
import { explore } from '../explore/explore.ts'
import { HAZARDS } from '../explore/hazards.ts'
import { exitCodeOf } from '../explore/summary.ts'
import { suggest } from '../support/nearest.ts'
import { createLog, LOG_LEVELS } from './log.ts'
import { duration, wholeNumber } from './parse-argument.ts'
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
    .option('--budget <d>', 'begin no run after this time', duration)
    .option('--timeout <d>', 'how long a run may take (default: 2m and five times the command alone)', duration)
    .option('--before <command>', 'run this by the shell before each run, such as a reset of your database')
    .option('--tolerate', 'go on although two runs without faults differ')
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
  const files = flags.report.map(reportFile)
  await prepareFolders(files)
  const { fixtures, seed } = flags
  const exploration = await explore({
    command,
    before: flags.before,
    renames: flags.env.map(parseRename),
    env: process.env,
    interruption: watchSignals(),
    kinds: flags.faults,
    operations: flags.only,
    depth: flags.depth,
    jobs: flags.jobs ?? availableParallelism(),
    maxRuns: flags.maxRuns,
    budget: flags.budget,
    timeout: flags.timeout,
    tolerate: flags.tolerate ?? false,
    clock: flags.clock,
    flags: fixtures === undefined ? [] : ['--fixtures', fixtures],
    known: new Map(),
    options: {
      logger: createLog(flags.logLevel),
      confirmationDelay: flags.confirmationDelay ?? 0,
      ...(fixtures !== undefined && { fixtures }),
      ...(seed !== undefined && { seed }),
    },
    watch: {
      baseline: (n) => say(`run ${n} without faults`),
      planned: (_, count) => say(`${count} runs`),
      tried: ({ trial, outcome, sentences, took_ms, overhead_ms }) =>
        say(`${outcome.padEnd(16)} ${trial.id}: ${sentences.join('; ')} (${took_ms} ms + ${overhead_ms})`),
    },
  })
  process.exitCode = exploration ? exitCodeOf(exploration) : 1
  process.once('exit', () => process.exit())
}

function say(line: string): void {
  process.stderr.write(`yield-sandbox: ${line}\n`)
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

function atLeastOne(text: string): number {
  const count = wholeNumber(text)
  if (count > 0) return count
  throw new InvalidArgumentError('It must be at least 1.')
}
