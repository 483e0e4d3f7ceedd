import { Command, InvalidArgumentError, Option } from 'commander'
import type { OutputStream } from '../exec/run-all.ts'
import type { SandboxOptions } from '../options.ts'
import { readFixture } from '../read-fixture.ts'
import { createLog } from './log.ts'
import { notEmpty, wholeNumber } from './parse-argument.ts'
import { progress } from './progress.ts'
import { startFlag } from './start-flags.ts'

/** Flags of a command that runs the user's command against sandboxes of its own, and reports on it. */
export interface RunFlags extends SandboxFlags {
  report: string[]
}

/** Flags of every command that runs the user's command. */
interface SandboxFlags {
  env: string[]
  /** False with `--no-join`. */
  join: boolean
  json?: boolean
  before?: string
  books?: string
  restarts: number
  verbose?: boolean
  fixtures?: string
  seed?: number
  confirmationDelay?: string
  clock?: string
  logLevel: string
}

/** Most restarts of a command. */
export const MAX_RESTARTS = 3

/** A command that runs the user's command, still without flags of its own. */
export function runningCommand(name: string, description: string, argument = '<command...>'): Command {
  return new Command(name)
    .description(description)
    .usage('[options] -- <command...>')
    .argument(argument, 'what to run, with its arguments')
    .configureOutput({ outputError: (text, write) => write(text.replace(/(unknown option .*)/, `$1: ${HINT}`)) })
}

const HINT = 'what belongs to your command goes after --'

/** An option that may be given several times. */
export function texts(text: string, earlier: string[]): string[] {
  return [...earlier, text]
}

/** Adds the flags of {@link RunFlags}; `clock` is the help text of `--clock`. */
export function withRunFlags(command: Command, clock: string): Command {
  command.option('--report <file>', 'write the report, its form by the suffix; may be repeated', texts, [])
  return withSandboxFlags(command, { seed: 'every random choice derives from it (default: a fresh one)', clock })
}

/** Adds the flags of {@link SandboxFlags}; `words` are the help texts of `--seed` and `--clock`. */
export function withSandboxFlags(command: Command, words: { seed: string; clock: string }): Command {
  return command
    .option('--before <command>', 'run this by the shell before each run, such as a reset of your database')
    .addOption(
      new Option('--restarts <n>', RESTARTS).env('YIELD_SANDBOX_RESTARTS').argParser(restarts).default(0, 'never'),
    )
    .option(
      '--books <command>',
      'run this by the shell when all is settled; it prints what your app believes, as JSON',
      notEmpty,
    )
    .option('--verbose', 'show everything, not only what is wrong')
    .option('--json', 'print the result as JSON; what your command prints goes to stderr then')
    .option('--env <THEIRS=YIELD_NAME>', 'give a variable by another name, too; may be repeated', texts, [])
    .addOption(
      new Option('--no-join', 'start a sandbox although one runs for this folder').env('YIELD_SANDBOX_NO_JOIN'),
    )
    .addOption(startFlag('fixtures'))
    .addOption(startFlag('seed', words.seed))
    .addOption(startFlag('confirmationDelay', '0, 2s, 5s-30s or realistic (default: 0)'))
    .addOption(startFlag('clock', words.clock))
    .addOption(startFlag('logLevel', "how much of the sandbox's log to show").default('error'))
}

const RESTARTS = 'start a command that left a transfer open once more, without faults, and judge then; at most 3 times'

/** Throws InvalidArgumentError. */
function restarts(text: string): number {
  const count = wholeNumber(text)
  if (count <= MAX_RESTARTS) return count
  throw new InvalidArgumentError(`It must be at most ${MAX_RESTARTS}.`)
}

/** Options of a sandbox from the flags, without its clock. Throws FixtureError. */
export async function sandboxOptions({
  fixtures,
  seed,
  confirmationDelay,
  logLevel,
}: Pick<RunFlags, 'fixtures' | 'confirmationDelay' | 'logLevel'> & {
  seed?: number | undefined
}): Promise<SandboxOptions> {
  return {
    logger: createLog(logLevel),
    confirmationDelay: confirmationDelay ?? (await delayOf(fixtures)),
    ...(fixtures !== undefined && { fixtures }),
    ...(seed !== undefined && { seed }),
  }
}

/** Flags that give the same sandbox and environment, and prepare and start the command in the same way. */
export function execFlags({ before, books, fixtures, confirmationDelay, env, restarts }: SandboxFlags): string[] {
  return [
    ...(before === undefined ? [] : ['--before', before]),
    ...(books === undefined ? [] : ['--books', books]),
    ...(fixtures === undefined ? [] : ['--fixtures', fixtures]),
    ...(confirmationDelay === undefined ? [] : ['--confirmation-delay', confirmationDelay]),
    ...(restarts === 0 ? [] : ['--restarts', String(restarts)]),
    ...env.flatMap((rename) => ['--env', rename]),
  ]
}

/** The stream for the standard output of the user's command: with `--json`, standard output holds the result alone. */
export function outputFor({ json }: Pick<SandboxFlags, 'json'>): OutputStream {
  return json ? process.stderr : process.stdout
}

/** Ends the process at once: Node would first close what is still open, and was seen to wait for that for ever. */
export function exitAtOnce(): void {
  process.once('exit', () => process.exit())
}

/** Shows how many of several runs are done. */
export function ofScenarios(done: number, all: number): void {
  progress.show(`${done} of ${all} scenarios done`)
}

/** Prints a line to standard error, since standard output is the user's command's. */
export function say(line: string): void {
  progress.end()
  process.stderr.write(`yield-sandbox: ${line}\n`)
}

/** The confirmation delay that the fixture file sets, or none, since test suites should not have to wait. */
async function delayOf(fixtures: string | undefined): Promise<string | number> {
  const said = fixtures === undefined ? undefined : (await readFixture(fixtures)).options.confirmation_delay
  return said ?? 0
}

/** Flags of `certify`. */
export interface CertifyFlags extends SandboxFlags {
  jobs?: number
  timeout?: number
  tolerate?: boolean
  allowInconclusive?: boolean
  subject?: string
  output: string
  verify: string[]
}

/** Always the same, so that the same client gets the same digest. */
export const SEED = 1
export const CLOCK = '2026-01-01T00:00:00Z'
