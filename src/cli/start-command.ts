import { Command, Option } from 'commander'
import type { SandboxOptions } from '../options.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { visibleJson } from '../support/foreign-text.ts'
import { banner, ownCommand } from './banner.ts'
import { keepTickShape } from './keep-tick-shape.ts'
import { createLog, LOG_LEVELS } from './log.ts'
import { atLeastOne, notEmpty, wholeNumber } from './parse-argument.ts'
import { reportFailure } from './report-failure.ts'
import { whenNpxGoes } from './watch-signals.ts'

interface Flags {
  port?: number
  host?: string
  publicUrl?: string
  tls?: 'self-signed'
  tlsCert?: string
  tlsKey?: string
  fixtures?: string
  forkUrl?: string
  forkBlockNumber?: number
  confirmationDelay?: string
  dataDir?: string
  fsync?: boolean
  seed?: number
  clock?: string
  maxNamespaces?: number
  maxNodes?: number
  namespaceIdle?: string
  recordExchanges?: number
  recordBytes?: string
  controlToken?: string
  json?: boolean
  logLevel?: string
  quiet?: boolean
}

/** Milliseconds within which a reader of the first lines has closed the pipe. */
const READ_MS = 500

/** `start`: runs a sandbox until it is stopped. */
export function startCommand(): Command {
  const flag = (flags: string, description: string, name: string) =>
    new Option(flags, description).env(`YIELD_SANDBOX_${name}`)
  return new Command('start')
    .description('Start the sandbox (the default command).')
    .addOption(flag('--port <n>', 'port; 0 picks a free one (default: 4010)', 'PORT').argParser(wholeNumber))
    .addOption(flag('--host <address>', 'address to listen on (default: loopback, 127.0.0.1 and ::1)', 'HOST'))
    .addOption(flag('--public-url <url>', 'origin clients see (default: where it listens)', 'PUBLIC_URL'))
    .addOption(flag('--tls <how>', 'serve https with a certificate made for it', 'TLS').choices(['self-signed']))
    .addOption(flag('--tls-cert <file>', 'serve https with this certificate, PEM', 'TLS_CERT'))
    .addOption(flag('--tls-key <file>', "the certificate's key, PEM", 'TLS_KEY'))
    .addOption(flag('--fixtures <file>', 'YAML or JSON file (default: the shipped default.yaml)', 'FIXTURES'))
    .addOption(flag('--fork-url <url>', "JSON-RPC of a real chain for the fixture's forked chain", 'FORK_URL'))
    .addOption(
      flag('--fork-block-number <n>', 'block to fork at (default: the latest)', 'FORK_BLOCK_NUMBER').argParser(
        wholeNumber,
      ),
    )
    .addOption(flag('--confirmation-delay <d>', '0, 2s, 5s-30s or realistic (default: 2s)', 'CONFIRMATION_DELAY'))
    .addOption(flag('--data-dir <dir>', 'keep state across restarts (default: nothing is written)', 'DATA_DIR'))
    .addOption(flag('--fsync', 'what is kept outlives a power cut as well; slower', 'FSYNC'))
    .addOption(
      flag('--seed <n>', 'every random choice derives from it (default: a fresh one)', 'SEED').argParser(wholeNumber),
    )
    .addOption(flag('--clock <iso>', 'moment the sandbox clock starts at, frozen (default: real time)', 'CLOCK'))
    .addOption(
      flag('--max-namespaces <n>', 'namespaces beside the default one (default: 1000)', 'MAX_NAMESPACES').argParser(
        wholeNumber,
      ),
    )
    .addOption(flag('--max-nodes <n>', 'Anvils at once (default: 64)', 'MAX_NODES').argParser(atLeastOne))
    .addOption(
      flag('--namespace-idle <d>', 'how long one may be unused before its Anvils end (default: 10m)', 'NAMESPACE_IDLE'),
    )
    .addOption(
      flag(
        '--record-exchanges <n>',
        'exchanges each namespace keeps; 0 keeps none (default: 10000)',
        'RECORD_EXCHANGES',
      ).argParser(wholeNumber),
    )
    .addOption(flag('--record-bytes <size>', 'memory they may take: 64MiB (the default), 0 …', 'RECORD_BYTES'))
    .addOption(
      flag('--control-token <t>', 'bearer token of the control interface', 'CONTROL_TOKEN').argParser(notEmpty),
    )
    .addOption(flag('--json', 'one JSON line on stdout when ready', 'JSON'))
    .addOption(flag('--log-level <level>', 'how much to log (default: info)', 'LOG_LEVEL').choices(LOG_LEVELS))
    .addOption(flag('--quiet', 'print nothing but errors', 'QUIET'))
    .addHelpText('after', EXAMPLES)
    .action(start)
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
    process.stdout.write(banner(credentials, ownCommand(process.argv[1] ?? '', process.cwd())))
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
