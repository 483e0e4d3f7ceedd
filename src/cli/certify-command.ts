import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import type { Command } from 'commander'
import { exitCodeOf } from '../certify/certificate.ts'
import { certificateFiles, writeCertificate } from '../certify/certificate-files.ts'
import { certify } from '../certify/certify.ts'
import { renderText } from '../certify/render/render-text.ts'
import { SandboxClock } from '../domain/clock.ts'
import { parseRename } from '../exec/command-environment.ts'
import { codeOfSignal } from '../exec/exit-code.ts'
import { prepareFolders } from '../exec/report-files.ts'
import type { ExploreWatch } from '../explore/explore.ts'
import { OptionError } from '../option-error.ts'
import { shippedScenarios } from '../scenarios/shipped-scenarios.ts'
import { shorten } from '../support/shorten.ts'
import { ExploreDisplay } from './explore-display.ts'
import { keepTickShape } from './keep-tick-shape.ts'
import { atLeastOne, positiveDuration } from './parse-argument.ts'
import {
  exitAtOnce,
  forgiveReaders,
  runningCommand,
  type SandboxFlags,
  sandboxOptions,
  say,
  texts,
  withSandboxFlags,
} from './run-flags.ts'
import { verifyFiles } from './verify-files.ts'
import { wantsColour } from './wants-colour.ts'
import { watchSignals } from './watch-signals.ts'

interface Flags extends SandboxFlags {
  jobs?: number
  timeout?: number
  before?: string
  tolerate?: boolean
  subject?: string
  output: string
  verify: string[]
}

/** The same every time, so that the same client comes to the same digest. */
const SEED = 1
const CLOCK = '2026-01-01T00:00:00Z'
/** Characters of a subject. */
const LONGEST_SUBJECT = 200

/** `certify`: runs a command through all scenarios and an exploration, and writes down in one page what was proved. */
export function certifyCommand(): Command {
  const command = runningCommand(
    'certify',
    'Run a command through all scenarios and explore, and write one page of what was proved. Exits with 3 when it is wrong.',
    '[command...]',
  )
    .option('--output <file.html>', 'the page; its JSON has the same name', 'yield-certificate.html')
    .option('--subject <text>', 'what is certified, such as a commit or a version of your app')
    .option('--jobs <n>', 'how many runs at a time (default: the number of processors)', atLeastOne)
    .option('--timeout <d>', 'how long a run may take (default: 2m and five times the command alone)', positiveDuration)
    .option('--before <command>', 'run this by the shell before each run, such as a reset of your database')
    .option('--tolerate', 'go on although two runs without faults differ')
    .option('--verify <file>', 'say whether a certificate is as it was made; twice: compare two', texts, [])
  const clock = `moment at which the clock of the runs of explore stands (default: ${CLOCK})`
  return withSandboxFlags(command, { seed: `every random choice derives from it (default: ${SEED})`, clock })
    .addHelpText('after', EXAMPLES)
    .action(run)
}

const EXAMPLES = `
The command is told where the sandbox is as by exec. It runs once in each shipped scenario, and once for everything that can go wrong.

Exit codes: 0 nothing is contradicted and no money went astray, 3 something is or the command failed in a scenario, 4 nothing was
exercised; the command's own when it fails without any fault. Of --verify: 0 intact, 1 changed or not the same results, 2 no certificate.

Examples:
  yield-sandbox certify --subject "$(git rev-parse HEAD)" -- npm test
  yield-sandbox certify --before 'npm run db:reset' --output build/certificate.html -- npm test
  yield-sandbox certify --verify yield-certificate.html
  yield-sandbox certify --verify before.json --verify after.json`

async function run(command: string[], flags: Flags): Promise<void> {
  if (flags.verify.length > 0) {
    if (command.length > 0) throw new OptionError('--verify runs no command: leave out one of them')
    process.exitCode = await verifyFiles(flags.verify, (line) => void process.stdout.write(`${line}\n`))
    return
  }
  if (command.length === 0) throw new OptionError('certify needs a command after --, or --verify <file>')
  keepTickShape()
  const { subject, before, timeout, tolerate = false, output, clock = CLOCK, jobs = availableParallelism() } = flags
  refuseLong(subject)
  const files = certificateFiles(output)
  const renames = flags.env.map(parseRename)
  await prepareFolders([{ path: files.html }], '--output')
  const options = await sandboxOptions({ ...flags, seed: flags.seed ?? SEED })
  const interruption = watchSignals()
  forgiveReaders()
  const display = new ExploreDisplay({ screen: process.stderr, clock: new SandboxClock(), live: isLive() })
  // However it ends, the terminal has its cursor.
  process.once('exit', () => display.end())
  const certificate = await certify({
    ...{ command, before, renames, env: process.env, interruption, options, clock, timeout, jobs, tolerate, subject },
    ...{ kinds: [], operations: [], scenarios: await shippedScenarios(), out: process.stdout, say },
    execFlags: execFlags(flags),
    flags: certifyFlags(flags),
    fixtures: await digestOfFile(flags.fixtures),
    watch: watchOf(display),
    explored: () => display.end(),
  }).finally(() => display.end())
  if (!certificate) process.exitCode = codeOfSignal(interruption.asked.reason ?? 'SIGINT')
  else {
    await writeCertificate(files, certificate)
    process.stderr.write(`\n${renderText(certificate)}`)
    say(`written to ${files.html} and ${files.json}`)
    process.exitCode = exitCodeOf(certificate.evidence)
  }
  exitAtOnce()
}

function refuseLong(subject = ''): void {
  if (subject.length <= LONGEST_SUBJECT) return
  throw new OptionError(`--subject "${shorten(subject)}" must have at most ${LONGEST_SUBJECT} characters`)
}

function isLive(): boolean {
  return wantsColour(process.stderr) && !process.env.CI
}

function watchOf(display: ExploreDisplay): ExploreWatch {
  return {
    baseline: (run) => display.baseline(run),
    planned: (_, trials) => display.planned(trials, []),
    tried: (result) => display.tried(result),
  }
}

/** Flags of `exec` that make the same sandbox, and the same environment. */
function execFlags({ fixtures, confirmationDelay, env }: Flags): string[] {
  return [
    ...(fixtures === undefined ? [] : ['--fixtures', fixtures]),
    ...(confirmationDelay === undefined ? [] : ['--confirmation-delay', confirmationDelay]),
    ...env.flatMap((rename) => ['--env', rename]),
  ]
}

/** Flags without which the certificate would be another; the seed, the clock and the subject have places of their own. */
function certifyFlags({ before, timeout, tolerate, ...flags }: Flags): string[] {
  return [
    ...(timeout === undefined ? [] : ['--timeout', `${timeout}ms`]),
    ...(before === undefined ? [] : ['--before', before]),
    ...(tolerate ? ['--tolerate'] : []),
    ...execFlags(flags as Flags),
  ]
}

async function digestOfFile(path: string | undefined): Promise<string | null> {
  if (path === undefined) return null
  return `sha256:${createHash('sha256')
    .update(await readFile(path))
    .digest('hex')}`
}
