import { relative } from 'node:path'
import { Command } from 'commander'
import type { Credentials } from '../control/contract.ts'
import type { SandboxOptions } from '../options.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { shellWords, visibleJson } from '../support/foreign-text.ts'
import { createLog } from './log.ts'
import { keepTickShape, whenNpxGoes } from './own-process.ts'
import { progress } from './progress.ts'
import { reportFailure } from './report-failure.ts'
import { startFlags } from './start-flags.ts'

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
  progress.end()
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

/** Parts of the {@link banner} beside credentials. */
interface BannerParts {
  /** The command that runs this program, which in a clone is not on the PATH. */
  own?: string
  /** Address of the inspector; undefined if it is switched off. */
  inspector?: string | undefined
}

/** The text for a person when the sandbox is ready: its addresses, a first request to paste, and commands to try next. */
export function banner(credentials: Credentials, { own = 'yield-sandbox', inspector }: BannerParts = {}): string {
  const { base_url, auth_url, control_url, rpc_urls, seed, ca_file, control_token, tenants } = credentials
  const [tenant] = tenants
  const rows: [string, string][] = [
    ...(inspector === undefined ? [] : ([['Inspector', inspector]] as [string, string][])),
    ['Base URL', base_url],
    ['Token URL', auth_url],
    ['Docs', new URL('/docs', auth_url).href],
    ['Control', control_url],
    ...Object.entries(rpc_urls).map(([chainId, url]): [string, string] => [`RPC ${chainId}`, url]),
    ['Seed', String(seed)],
    ...(ca_file === undefined ? [] : ([['CA file', ca_file]] as [string, string][])),
    ...(control_token === undefined ? [] : ([['Control token', control_token]] as [string, string][])),
  ]
  if (tenant) {
    rows.push(['Tenant', tenant.slug], ['Client id', tenant.client_id], ['Client secret', tenant.client_secret])
    rows.push(['End users', tenant.end_users.join(', ') || 'none yet'])
  }
  const lines = rows.map(([name, value]) => `  ${`${name}:`.padEnd(15)}${value}`)
  return `\n  yield-sandbox is ready.\n\n${lines.join('\n')}\n\n  Next:\n\n${nextSteps(credentials, { own, inspector })}\n`
}

/** Three steps: look, send a first request, and let a test suite be judged. */
function nextSteps(credentials: Credentials, { own = 'yield-sandbox', inspector }: BannerParts): string {
  const { base_url, auth_url, scope, ca_file, tenants } = credentials
  const [tenant] = tenants
  const curl = ca_file === undefined ? 'curl -s' : `curl -s --cacert '${ca_file.replaceAll("'", `'\\''`)}'`
  const first = tenant && [
    'Paste a first request: a token, then the pools.',
    '',
    `TOKEN=$(${curl} ${auth_url} -d grant_type=client_credentials -d client_id=${tenant.client_id} -d client_secret=${tenant.client_secret} -d scope=${scope} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    `${curl} ${base_url}/v1/partner/pools -H "Authorization: Bearer $TOKEN"`,
    '',
  ]
  const steps = [
    ...(inspector === undefined ? [] : [['Open the inspector, the first address above, and watch what comes.']]),
    ...(first ? [first] : []),
    ['Let your tests be judged, against a sandbox of their own:', `     ${own} exec -- npm test`],
  ]
  return steps.map(([head, ...lines], i) => [`  ${i + 1}. ${head}`, ...lines].join('\n')).join('\n')
}

/** The command that runs this program, which was started as `path`, from `directory`. */
export function ownCommand(path: string, directory: string): string {
  if (/[\\/]node_modules[\\/]/.test(path)) return 'npx yield-sandbox'
  return path.endsWith('.js') ? shellWords(['node', relative(directory, path)]) : 'yield-sandbox'
}
