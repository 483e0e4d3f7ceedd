import { certifyCommand } from './certify-command.ts'
import { clockCommand } from './clock-command.ts'
import { completionCommand } from './completion-command.ts'
import { doctorCommand } from './doctor-command.ts'
import { execCommand } from './exec-command.ts'
import { explainCommand } from './explain-command.ts'
import { exploreCommand } from './explore-command.ts'
import { faultsCommand } from './faults-command.ts'
import { findingsCommand } from './findings-command.ts'
import { fixturesCommand } from './fixtures-command.ts'
import { initCommand } from './init-command.ts'
import { mcpCommand } from './mcp-command.ts'
import { namespacesCommand } from './namespaces-command.ts'
import { openapiCommand } from './openapi-command.ts'
import { reportCommand } from './report-command.ts'
import { requestsCommand } from './requests-command.ts'
import { scenarioCommand } from './scenario-command.ts'
import { snapshotCommand } from './snapshot-command.ts'
import { resetCommand, statusCommand, stopCommand, usageCommand, waitCommand } from './state-commands.ts'
import { tokenCommand, userTokenCommand } from './token-commands.ts'

/** Makers of all commands but `start`, in the order of the help. */
export const otherCommands = [
  execCommand,
  exploreCommand,
  certifyCommand,
  initCommand,
  doctorCommand,
  waitCommand,
  statusCommand,
  usageCommand,
  stopCommand,
  tokenCommand,
  userTokenCommand,
  faultsCommand,
  clockCommand,
  scenarioCommand,
  reportCommand,
  findingsCommand,
  explainCommand,
  requestsCommand,
  resetCommand,
  namespacesCommand,
  snapshotCommand,
  fixturesCommand,
  openapiCommand,
  mcpCommand,
  completionCommand,
]
