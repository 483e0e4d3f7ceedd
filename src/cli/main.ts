import { Command, CommanderError } from 'commander'
import { suggest } from '../support/nearest.ts'
import { version } from '../version.ts'
import { certifyCommand } from './certify-command.ts'
import { clockCommand } from './clock-command.ts'
import { doctorCommand } from './doctor-command.ts'
import { readEnvironment } from './environment.ts'
import { execCommand } from './exec-command.ts'
import { exploreCommand } from './explore-command.ts'
import { faultsCommand } from './faults-command.ts'
import { findingsCommand } from './findings-command.ts'
import { fixturesCommand } from './fixtures-command.ts'
import { namespacesCommand } from './namespaces-command.ts'
import { openapiCommand } from './openapi-command.ts'
import { reportCommand } from './report-command.ts'
import { reportFailure } from './report-failure.ts'
import { requestsCommand } from './requests-command.ts'
import { resetCommand } from './reset-command.ts'
import { scenarioCommand } from './scenario-command.ts'
import { startCommand } from './start-command.ts'
import { statusCommand } from './status-command.ts'
import { stopCommand } from './stop-command.ts'
import { tokenCommand, userTokenCommand } from './token-commands.ts'
import { waitCommand } from './wait-command.ts'

const commands = [
  execCommand,
  exploreCommand,
  certifyCommand,
  doctorCommand,
  waitCommand,
  statusCommand,
  stopCommand,
  tokenCommand,
  userTokenCommand,
  faultsCommand,
  clockCommand,
  scenarioCommand,
  reportCommand,
  findingsCommand,
  requestsCommand,
  resetCommand,
  namespacesCommand,
  fixturesCommand,
  openapiCommand,
]

/** Runs the command line. Exit codes: 0 good, 1 failure, 2 usage, 3 and 4 of a verdict. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('yield-sandbox')
    .description('A sandbox of the Yield Portfolio Partner API with a real local chain.')
    .version(version)
    .showHelpAfterError('Run yield-sandbox --help for what there is.')
    .exitOverride()
  program.addCommand(startCommand(), { isDefault: true })
  for (const command of commands) program.addCommand(command())
  for (const command of program.commands) command.exitOverride().showHelpAfterError('See --help.')
  try {
    refuseUnknown(program, argv[2])
    readEnvironment(program)
    await program.parseAsync(argv)
  } catch (error) {
    process.exitCode = error instanceof CommanderError ? (error.exitCode === 0 ? 0 : 2) : reportFailure(error)
  }
}

/** The default command would say no more of an unknown one than that it takes no arguments. */
function refuseUnknown(program: Command, word = '-'): void {
  const names = [...program.commands.map((command) => command.name()), 'help']
  if (word.startsWith('-') || names.includes(word)) return
  program.error(`error: unknown command "${word}": ${suggest(word, names)}`)
}
