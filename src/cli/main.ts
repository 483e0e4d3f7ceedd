import { Command, CommanderError } from 'commander'
import { suggest } from '../support/nearest.ts'
import { parseSwitch, SWITCH_FORM } from '../support/parse-switch.ts'
import { version } from '../version.ts'
import { helpExamples } from './help-examples.ts'
import { progress } from './progress.ts'
import { reportFailure } from './report-failure.ts'
import { startCommand } from './start-command.ts'

/** Runs the command line. Exit codes: 0 good, 1 failure, 2 usage, 3 and 4 of a verdict. `said`: the first words are on the terminal. */
export async function main(argv: readonly string[], said = false): Promise<void> {
  progress.begin(said)
  process.stdout.off('error', forgive).on('error', forgive)
  process.stderr.off('error', ignore).on('error', ignore)
  process.once('beforeExit', endedInTheMiddle)
  const isHelp = argv.some((flag) => flag === '--help' || flag === '-h')
  const program = await programOf(isStart(argv) && !isHelp)
  try {
    refuseUnknown(program, argv[2])
    readEnvironment(program)
    await program.parseAsync(argv)
  } catch (error) {
    process.exitCode = error instanceof CommanderError ? (error.exitCode === 0 ? 0 : 2) : reportFailure(error)
  } finally {
    process.off('beforeExit', endedInTheMiddle)
  }
}

/** Codes of the operating system for a reader, or a terminal, that has gone. */
const GONE = new Set(['EPIPE', 'EIO', 'ECONNRESET'])

/** A reader that has read enough, such as `head`, is not a failure: the command goes on without output. A full disk is one. */
function forgive(error: NodeJS.ErrnoException): void {
  if (!GONE.has(error.code ?? '')) process.exitCode = reportFailure(error)
}

/** Nothing can be reported of the stream for reports itself. */
const ignore = () => undefined

/** Node ends the process, as if all were well, when nothing can happen any more, and its `fetch` forgets connections that are closed at once. */
function endedInTheMiddle(): void {
  progress.end()
  process.stderr.write(
    'yield-sandbox: a connection was closed without an answer; is it a sandbox that listens at that address?\n',
  )
  process.exitCode = 1
}

/** The command line with all of its commands, or with `start` alone, which then need not load the others. */
export async function programOf(startOnly = false): Promise<Command> {
  const program = new Command('yield-sandbox')
    .description('A sandbox of the Yield Portfolio Partner API with a real local chain.')
    .version(version)
    .showHelpAfterError('Run yield-sandbox --help for what there is.')
    .exitOverride()
  program.addCommand(startCommand(), { isDefault: true })
  if (!startOnly) {
    const { otherCommands } = await import('./other-commands.ts')
    for (const command of otherCommands) program.addCommand(command())
    program.addHelpText('after', EXAMPLES)
    const { aimAtOwnSandbox } = await import('./own-sandbox.ts')
    program.hook('preAction', (_, command) => aimAtOwnSandbox(command))
  }
  settle(program)
  return program
}

const EXAMPLES = helpExamples([
  '',
  '--port 0 --data-dir ./sandbox-data',
  'exec -- npm test',
  'explain rate_limited',
  'help exec',
])

/** Lets every command below report its errors in the same way, by an exception and one line. */
function settle(parent: Command): void {
  for (const command of parent.commands) {
    command.exitOverride().showHelpAfterError('See --help.')
    command.configureOutput({ writeErr: reportUsage })
    settle(command)
  }
}

/** Prints an error of the command line in place of what was said of progress. */
function reportUsage(text: string): void {
  progress.end()
  process.stderr.write(text)
}

/** @returns true if the command is `start`, without help, which lists the others: then the other commands need not be loaded */
function isStart([, , word = 'start', ...others]: readonly string[]): boolean {
  const isHelp = [word, ...others].some((flag) => flag === '--help' || flag === '-h')
  return (word === 'start' || word.startsWith('-')) && !isHelp
}

/** Refuses an unknown command with a suggestion; the default command would only say that it takes no arguments. */
function refuseUnknown(program: Command, word = '-'): void {
  const names = [...program.commands.map((command) => command.name()), 'help']
  if (word.startsWith('-') || names.includes(word)) return
  program.error(`error: unknown command "${word}": ${suggest(word, names)}`)
}

/**
 * Corrects commander's reading of environment variables: an empty one counts as unset, and a switch takes true, false, 1 and 0, where
 * commander turns a switch on by any value. Throws CommanderError.
 */
function readEnvironment(program: Command): void {
  for (const option of program.options) {
    const name = option.envVar
    const value = name === undefined ? undefined : process.env[name]
    if (name === undefined || value === undefined) continue
    const isSwitch = option.isBoolean() || option.negate
    const position = isSwitch ? parseSwitch(value) : value !== ''
    if (position === undefined) {
      program.error(`error: environment variable ${name} must be ${SWITCH_FORM}; got "${value}"`)
    }
    if (!position) delete process.env[name]
  }
  for (const command of program.commands) readEnvironment(command)
}
