import { availableParallelism } from 'node:os'
import type { Command } from 'commander'
import { loadBaseline } from '../exec/baseline.ts'
import { parseRename } from '../exec/command-environment.ts'
import { exec, readFault } from '../exec/exec.ts'
import { prepareFiles, reportFile } from '../exec/report-files.ts'
import { shrinkRun } from '../explore/shrink/shrink-run.ts'
import { OptionError } from '../option-error.ts'
import { findScenario, shippedScenarios } from '../scenarios/find-scenario.ts'
import type { Scenario } from '../scenarios/scenario-schema.ts'
import { shorten } from '../support/foreign-text.ts'
import type { FindingId } from '../verdict/finding-ids.ts'
import { renderReportText, verdictLine } from '../verdict/render/text.ts'
import { mergedReport, type Report } from '../verdict/report.ts'
import { print } from './control-options.ts'
import { sandboxToJoin, withFixturesOf, within } from './join.ts'
import { keepTickShape, watchSignals } from './own-process.ts'
import { atLeastOne, findingIds, positiveDuration } from './parse-argument.ts'
import { progress } from './progress.ts'
import {
  execFlags,
  exitAtOnce,
  ofScenarios,
  outputFor,
  type RunFlags,
  runningCommand,
  sandboxOptions,
  say,
  texts,
  withRunFlags,
} from './run-flags.ts'
import { screenOf } from './screen-of.ts'

/** Stands for every shipped scenario. */
const ALL = 'all'

interface Flags extends RunFlags {
  scenario: string[]
  fault: string[]
  jobs?: number
  timeout?: number
  require: FindingId[]
  baseline?: string
  allowInconclusive?: boolean
  shrink?: string
}

/** `exec`: runs a command, such as a test suite, against fresh sandboxes, and judges its client. */
export function execCommand(): Command {
  const command = runningCommand(
    'exec',
    'Run a command against a fresh sandbox, and judge its client. Exits with 3 when it is wrong.',
  )
    .option(
      '--scenario <name or file>',
      'what goes wrong meanwhile; may be repeated: a run for each; all: every shipped one',
      texts,
      [],
    )
    .option('--fault <rule>', 'a fault, as in X-Sandbox-Fault; may be repeated', texts, [])
    .option('--jobs <n>', 'how many scenarios at a time (default: the number of processors)', atLeastOne)
    .option('--timeout <d>', 'end a command that takes longer', positiveDuration)
    .option('--require <finding>', 'a finding whose rule must be kept; may be repeated', findingIds, [])
    .option('--baseline <file>', 'findings that may fail for the time being')
    .option('--shrink <file>', 'when it fails, save the fewest faults that do it as a scenario (.yaml)')
    .option('--allow-inconclusive', 'exit with 0 when what was asked for did not come about')
  return withRunFlags(command, 'moment the sandbox clock starts at, frozen (default: real time)')
    .addHelpText('after', EXAMPLES)
    .action(run)
}

const EXAMPLES = `
The command finds the sandbox in YIELD_BASE_URL, YIELD_AUTH_URL, YIELD_CLIENT_ID, YIELD_CLIENT_SECRET, YIELD_SCOPE,
YIELD_AUDIENCE, YIELD_ISSUER, YIELD_KEY_ID, YIELD_PRIVATE_KEY_PEM, YIELD_EXTERNAL_ID, YIELD_RPC_URL, YIELD_CONTROL_URL.

Exit codes: the command's own when it fails, else 0 passed, 3 failed, 4 inconclusive, or the sandbox that it joined has ended;
1 no verdict, 2 usage.

Examples:
  yield-sandbox exec --scenario dropped-deposit -- npm test
  yield-sandbox exec --scenario dropped-deposit --scenario expired-cursor --report report.html -- npm test
  yield-sandbox exec --fault 'error; status=503; operation=deposit; times=2' -- npm test
  yield-sandbox exec --scenario all -- npm test
  yield-sandbox exec --scenario flaky-network --shrink fewest.yaml -- npm test
  yield-sandbox exec --scenario dropped-deposit --books 'sh books.sh' -- npm test
  yield-sandbox exec --env API_URL=YIELD_BASE_URL --timeout 5m -- sh -c 'npm run seed && npm test'`

async function run(command: string[], given: Flags): Promise<void> {
  keepTickShape()
  const host = await sandboxToJoin(given)
  const flags = withFixturesOf(given, host)
  const { timeout, before, books, restarts, allowInconclusive = false, clock, baseline } = flags
  const scenarios = await scenariosOf(flags.scenario)
  const files = flags.report.map(reportFile)
  const faults = flags.fault.map(readFault)
  const renames = flags.env.map(parseRename)
  const accepted = baseline === undefined ? [] : await loadBaseline(baseline)
  const fewest = flags.shrink === undefined ? undefined : shrinkFile(flags.shrink, scenarios.length)
  await prepareFiles(files)
  if (fewest !== undefined) await prepareFiles([{ path: fewest }], '--shrink')
  const options = { ...(await sandboxOptions(flags)), ...(clock !== undefined && { clock }) }
  const runTerms = {
    ...{ command, before, books, faults, renames, options, host, timeout, restarts, say },
    required: flags.require,
    env: process.env,
    interruption: watchSignals(),
    phase: (phase: 'begun' | 'ended') => (phase === 'begun' ? progress.end() : progress.show('judges what it did')),
  }
  const again = [...execFlags(flags), ...(clock === undefined ? [] : ['--clock', clock])]
  const named = new Map<Scenario | undefined, string[]>(
    scenarios.map(({ named, scenario }) => [scenario, ['--scenario', named]]),
  )
  const onTheSpot = flags.fault.flatMap((fault) => ['--fault', fault])
  const running = () =>
    exec({
      ...{ ...runTerms, scenarios: scenarios.map(({ scenario }) => scenario), files, allowInconclusive },
      show: (reports, table) => show(reports, { table, flags }),
      ...(flags.json && { tell: (result) => print(flags, result, []) }),
      askedFor: (scenario) => ({ what: [...(named.get(scenario) ?? []), ...onTheSpot], flags: again }),
      baseline: accepted,
      jobs: flags.jobs ?? availableParallelism(),
      out: outputFor(flags),
      progress: ofScenarios,
      ...(fewest !== undefined && {
        traced: true,
        afterwards: (run) =>
          shrinkRun(run, { ...runTerms, books: undefined, scenario: undefined, file: fewest, flags: again }),
      }),
    })
  process.exitCode = await within(host, running)
  exitAtOnce()
}

/** Path of the file for the smallest set of faults. Throws OptionError. */
function shrinkFile(path: string, scenarios: number): string {
  if (!/\.ya?ml$/.test(path)) throw new OptionError(`--shrink "${shorten(path)}" must be a file that ends with .yaml`)
  if (scenarios > 1) throw new OptionError('--shrink goes with one scenario; run the others by themselves')
  return path
}

/** A scenario, and the word that it was asked for by. */
interface NamedScenario {
  named: string
  scenario: Scenario
}

/** The scenarios that the words name, each shipped one for `all`. Throws ScenarioError. */
async function scenariosOf(words: readonly string[]): Promise<NamedScenario[]> {
  const each = words.map(async (named): Promise<NamedScenario[]> => {
    if (named !== ALL) return [{ named, scenario: await findScenario(named) }]
    return (await shippedScenarios()).map((scenario) => ({ named: scenario.name, scenario }))
  })
  return (await Promise.all(each)).flat()
}

interface Shown {
  table: string | undefined
  flags: Pick<Flags, 'scenario' | 'verbose'>
}

/**
 * Prints the reports; the verdict comes last, and with several reports it follows the table. Of all scenarios there is the table alone:
 * their reports would be longer than anybody reads.
 */
function show(reports: readonly Report[], { table, flags: { scenario, verbose = false } }: Shown): void {
  progress.end()
  const terms = { ...screenOf(process.stderr), verbose }
  const isShort = table !== undefined && scenario.includes(ALL) && !verbose
  const each = isShort ? [] : ['\n', renderReportText(reports, terms)]
  const more = isShort ? '--verbose shows the reports, and --report <file> writes them.\n' : ''
  const all = table === undefined ? [] : [`\n${table}\n\n${more}${verdictLine(mergedReport(reports), terms)}\n`]
  process.stderr.write([...each, ...all].join(''))
}
