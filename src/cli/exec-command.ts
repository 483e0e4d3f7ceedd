import { availableParallelism } from 'node:os'
import { Command, Option } from 'commander'
import { parseRename } from '../exec/command-environment.ts'
import { exec } from '../exec/exec.ts'
import { loadBaseline } from '../exec/load-baseline.ts'
import { readFault } from '../exec/read-fault.ts'
import { prepareFolders, reportFile } from '../exec/report-files.ts'
import { findScenario } from '../scenarios/find-scenario.ts'
import type { FindingId } from '../verdict/finding-ids.ts'
import { renderText } from '../verdict/render/text.ts'
import type { Report } from '../verdict/report.ts'
import { delayOf } from './default-delay.ts'
import { findingIds } from './finding-ids-argument.ts'
import { keepTickShape } from './keep-tick-shape.ts'
import { createLog, LOG_LEVELS } from './log.ts'
import { atLeastOne, positiveDuration, wholeNumber } from './parse-argument.ts'
import { wantsColour } from './wants-colour.ts'
import { watchSignals } from './watch-signals.ts'

interface Flags {
  scenario: string[]
  fault: string[]
  jobs?: number
  timeout?: number
  report: string[]
  env: string[]
  require: FindingId[]
  baseline?: string
  allowInconclusive?: boolean
  fixtures?: string
  seed?: number
  confirmationDelay?: string
  clock?: string
  logLevel: string
}

/** `exec`: runs a command, such as a test suite, against fresh sandboxes, and says whether its client is right. */
export function execCommand(): Command {
  const flag = (flags: string, description: string, name: string) =>
    new Option(flags, description).env(`YIELD_SANDBOX_${name}`)
  const texts = (text: string, earlier: string[]) => [...earlier, text]
  return new Command('exec')
    .description('Run a command against a fresh sandbox, and judge its client. Exits with 3 when it is wrong.')
    .usage('[options] -- <command...>')
    .argument('<command...>', 'what to run, with its arguments')
    .option('--scenario <name or file>', 'what goes wrong meanwhile; may be repeated: a run for each', texts, [])
    .option('--fault <rule>', 'a fault, as in X-Sandbox-Fault; may be repeated', texts, [])
    .option('--jobs <n>', 'how many scenarios at a time (default: the number of processors)', atLeastOne)
    .option('--timeout <d>', 'end a command that takes longer', positiveDuration)
    .option('--report <file>', `write the report, its form by the suffix; may be repeated`, texts, [])
    .option('--env <THEIRS=YIELD_NAME>', 'give a variable by another name, too; may be repeated', texts, [])
    .option('--require <finding>', 'a finding that must be proved; may be repeated', findingIds, [])
    .option('--baseline <file>', 'findings that may fail for the time being')
    .option('--allow-inconclusive', 'exit with 0 when what was asked for did not come about')
    .addOption(flag('--fixtures <file>', 'YAML or JSON file (default: the shipped default.yaml)', 'FIXTURES'))
    .addOption(
      flag('--seed <n>', 'every random choice derives from it (default: a fresh one)', 'SEED').argParser(wholeNumber),
    )
    .addOption(flag('--confirmation-delay <d>', '0, 2s, 5s-30s or realistic (default: 0)', 'CONFIRMATION_DELAY'))
    .addOption(flag('--clock <iso>', 'moment the sandbox clock starts at, frozen (default: real time)', 'CLOCK'))
    .addOption(
      flag('--log-level <level>', "how much of the sandbox's log to show", 'LOG_LEVEL')
        .choices(LOG_LEVELS)
        .default('error'),
    )
    .addHelpText('after', EXAMPLES)
    .configureOutput({ outputError: (text, write) => write(text.replace(/(unknown option .*)/, `$1: ${HINT}`)) })
    .action(run)
}

const HINT = 'what belongs to your command goes after --'

const EXAMPLES = `
The command finds the sandbox in YIELD_BASE_URL, YIELD_AUTH_URL, YIELD_CLIENT_ID, YIELD_CLIENT_SECRET, YIELD_SCOPE,
YIELD_AUDIENCE, YIELD_ISSUER, YIELD_KEY_ID, YIELD_PRIVATE_KEY_PEM, YIELD_EXTERNAL_ID, YIELD_RPC_URL, YIELD_CONTROL_URL.

Exit codes: the command's own when it fails, else 0 passed, 3 failed, 4 inconclusive; 1 no verdict, 2 usage.

Examples:
  yield-sandbox exec --scenario dropped-deposit -- npm test
  yield-sandbox exec --scenario dropped-deposit --scenario expired-cursor --report report.html -- npm test
  yield-sandbox exec --fault 'error; status=503; operation=deposit; times=2' -- npm test
  yield-sandbox exec --env API_URL=YIELD_BASE_URL --timeout 5m -- sh -c 'npm run seed && npm test'`

async function run(command: string[], flags: Flags): Promise<void> {
  keepTickShape()
  const { timeout, allowInconclusive = false, seed, clock, fixtures, baseline } = flags
  const scenarios = await Promise.all(flags.scenario.map(findScenario))
  const files = flags.report.map(reportFile)
  const faults = flags.fault.map(readFault)
  const renames = flags.env.map(parseRename)
  const accepted = baseline === undefined ? [] : await loadBaseline(baseline)
  await prepareFolders(files)
  const options = {
    logger: createLog(flags.logLevel),
    confirmationDelay: flags.confirmationDelay ?? (await delayOf(fixtures)),
    ...(fixtures !== undefined && { fixtures }),
    ...(seed !== undefined && { seed }),
    ...(clock !== undefined && { clock }),
  }
  // Whoever reads may have read enough: that is no failure.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  process.exitCode = await exec({
    ...{ command, scenarios, faults, renames, files, options, timeout, allowInconclusive },
    baseline: accepted,
    required: flags.require,
    jobs: flags.jobs ?? availableParallelism(),
    env: process.env,
    interruption: watchSignals(),
    out: process.stdout,
    say,
    show,
  })
  // Left to itself, Node first closes what is still open, and was seen to wait for that for ever.
  process.once('exit', () => process.exit())
}

/** Standard output is the command's own. */
function say(line: string): void {
  process.stderr.write(`yield-sandbox: ${line}\n`)
}

function show(reports: readonly Report[], table: string | undefined): void {
  process.stderr.write(`\n${renderText(reports, { colour: wantsColour(process.stderr) })}\n`)
  if (table !== undefined) process.stderr.write(`${table}\n`)
}
