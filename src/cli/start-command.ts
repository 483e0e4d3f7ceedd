import { Command } from 'commander'
import type { SandboxOptions } from '../options.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { visibleJson } from '../support/foreign-text.ts'
import { banner, ownCommand } from './banner.ts'
import { keepTickShape } from './keep-tick-shape.ts'
import { createLog } from './log.ts'
import { reportFailure } from './report-failure.ts'
import { startFlags } from './start-flags.ts'
import { whenNpxGoes } from './watch-signals.ts'

interface Flags extends SandboxOptions {
  json?: boolean
  logLevel?: string
  quiet?: boolean
}

/** Milliseconds within which a reader of the first lines has closed the pipe. */
const READ_MS = 500

/** `start`: runs a sandbox until it is stopped. */
export function startCommand(): Command {
  const command = new Command('start').description('Start the sandbox (the default command).')
  for (const flag of startFlags()) command.addOption(flag)
  return command.addHelpText('after', EXAMPLES).action(start)
}

const EXAMPLES = `
Examples:
  yield-sandbox
  yield-sandbox --port 0 --json --confirmation-delay 0
  yield-sandbox --fixtures my-fixtures.yaml --seed 7
  yield-sandbox --data-dir ./sandbox-data
  yield-sandbox --tls self-signed --public-url https://sandbox.test:4010`

async function start({ json, quiet, logLevel, ...options }: Flags): Promise<void> {
  keepTickShape()
  const level = quiet ? 'error' : logLevel
  const log = createLog(level ?? 'info')
  const given: SandboxOptions = { ...options, logger: log }
  const { Sandbox } = await import('../sandbox/sandbox.ts') // other commands do not need it
  const sandbox = await Sandbox.listen(given)
  log.level = level ?? sandbox.options.logLevel ?? 'info'
  stopWhenTold(sandbox)
  try {
    await sandbox.ready
  } catch (error) {
    if (sandbox.stopping) return
    await sandbox.stop()
    throw error
  }
  if (sandbox.stopping) return
  const credentials = await sandbox.credentials()
  if (json) process.stdout.write(`${visibleJson(credentials)}\n`)
  else if (!quiet) {
    const own = ownCommand(process.argv[1] ?? '', process.cwd())
    process.stdout.write(banner(credentials, { own, inspector: sandbox.inspectorAddress() }))
    // A reader such as head that has read enough is noticed at the next line that is written.
    await sandbox.namespace.services.service.clock.wallSleep(READ_MS)
    process.stdout.write('\n')
  }
}

/**
 * Stops everything that was started at Ctrl-C or SIGTERM, and at the end of the terminal, of npx or of the output's reader. A second
 * signal ends the process at once.
 */
function stopWhenTold(sandbox: Sandbox): void {
  const stop = () =>
    void sandbox.stop().then(
      () => process.exit(0),
      (error) => process.exit(reportFailure(error)),
    )
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => (sandbox.stopping ? process.exit(1) : stop()))
  }
  void whenNpxGoes(sandbox.namespace.services.service.clock, stop)
  process.stdout.on('error', stop)
  // By itself, Node would first close what is still open, and was seen to wait for that for ever, at full speed.
  process.once('exit', () => process.exit())
}
