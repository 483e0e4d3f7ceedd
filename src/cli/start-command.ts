import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { Command, Option } from 'commander'
import type { Credentials } from '../control/contract.ts'
import { SandboxClock } from '../domain/clock.ts'
import { OptionError } from '../option-error.ts'
import type { SandboxOptions } from '../options.ts'
import type { SandboxRecord } from '../running/sandbox-record.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { shellWords, visibleJson } from '../support/foreign-text.ts'
import { type BackgroundReport, IDLE_EXIT, LOG_FLAG } from './background-report.ts'
import { createLog } from './log.ts'
import { keepTickShape, whenNpxGoes } from './own-process.ts'
import { progress } from './progress.ts'
import { reportFailure } from './report-failure.ts'
import { startFlags } from './start-flags.ts'

interface Flags extends SandboxOptions {
  background?: boolean
  /** Set in the process that `--background` starts: path of its log. */
  inBackgroundWithLog?: string
  json?: boolean
  logLevel?: string
  quiet?: boolean
}

/** Milliseconds between two looks whether the folder of a sandbox in the background is still there. */
const LOOK_MS = 60_000
/** Milliseconds within which a reader of the first lines has closed the pipe. */
const READ_MS = 500

/** `start`: runs a sandbox until it is stopped. */
export function startCommand(): Command {
  const command = new Command('start').description('Start the sandbox (the default command).')
  for (const flag of startFlags()) command.addOption(flag)
  return command
    .addOption(new Option(`${LOG_FLAG} <file>`).hideHelp())
    .addHelpText('after', EXAMPLES)
    .action((flags: Flags) => (flags.background && !flags.inBackgroundWithLog ? background(flags) : start(flags)))
}

const EXAMPLES = `
Examples:
  yield-sandbox
  yield-sandbox --background
  yield-sandbox --port 0 --json --confirmation-delay 0
  yield-sandbox --fixtures my-fixtures.yaml --seed 7
  yield-sandbox --data-dir ./sandbox-data
  yield-sandbox --tls self-signed --public-url https://sandbox.test:4010`

/** Starts a sandbox in the background, or finds that it runs, and prints how to reach it. */
async function background({ background: _, json, quiet, logLevel: __, ...options }: Flags): Promise<void> {
  const { startInBackground } = await import('./background.ts')
  const { record, found, credentials, inspector } = await startInBackground(options)
  if (json) process.stdout.write(`${visibleJson(credentials)}\n`)
  else if (!quiet) {
    const own = ownCommand(process.argv[1] ?? '', process.cwd())
    process.stdout.write(`${banner(credentials, { own, inspector })}\n${whereabouts(record, { own, found })}`)
  }
}

async function start({ background: _, inBackgroundWithLog, json, quiet, logLevel, ...given }: Flags): Promise<void> {
  keepTickShape()
  const isBehind = inBackgroundWithLog !== undefined
  const options: SandboxOptions = isBehind ? { port: 'auto', idleExit: IDLE_EXIT, ...given } : given
  // A line for each request would fill the disk in time.
  const level = quiet ? 'error' : (logLevel ?? (isBehind ? 'warn' : undefined))
  const log = createLog(level ?? 'info')
  if (given.fleetPort !== undefined) return startMember({ ...given, logger: log }, { isBehind, json, quiet })
  const { Sandbox } = await import('../sandbox/sandbox.ts') // other commands do not need it
  const sandbox = await Sandbox.listen({ ...options, logger: log }).catch(sayWhoListens)
  log.level = level ?? sandbox.options.logLevel ?? 'info'
  stopWhenTold(sandbox, isBehind)
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
  const { recordStart } = await import('./recorded-start.ts')
  const first = await recordStart(sandbox, given, inBackgroundWithLog)
  if (isBehind) return reportBehind(sandbox, { first, credentials, inspector: sandbox.inspectorAddress() })
  if (json) process.stdout.write(`${visibleJson(credentials)}\n`)
  else if (!quiet) {
    const own = ownCommand(process.argv[1] ?? '', process.cwd())
    process.stdout.write(banner(credentials, { own, inspector: sandbox.inspectorAddress() }))
    // A reader such as head that has read enough is noticed at the next line that is written.
    await sandbox.namespace.services.service.clock.wallSleep(READ_MS)
    process.stdout.write('\n')
  }
}

/** A sandbox, or a process of several. */
interface Stoppable extends Pick<Sandbox, 'stop' | 'stopping'> {
  lost?: boolean
}

/** Runs one process of several until it is stopped. */
async function startMember(
  options: SandboxOptions,
  { isBehind, json, quiet }: { isBehind: boolean; json: boolean | undefined; quiet: boolean | undefined },
): Promise<void> {
  if (isBehind) throw new OptionError('--background is for one process: start those of a fleet where they are watched')
  const { FleetMember } = await import('../sandbox/fleet-member.ts')
  const member = await FleetMember.start(options).catch(sayWhoListens)
  stopWhenTold(member, isBehind)
  progress.end()
  if (!json && quiet) return
  const { ControlClient } = await import('../control/client.ts')
  const client = new ControlClient(member.baseUrl, { controlToken: member.options.controlToken, fetch: member.fetch })
  const credentials = await client.credentials()
  if (json) process.stdout.write(`${visibleJson(credentials)}\n`)
  else process.stdout.write(banner(credentials, { own: ownCommand(process.argv[1] ?? '', process.cwd()) }))
}

/**
 * Stops everything that was started at Ctrl-C or SIGTERM, and at the end of the terminal, of npx or of the output's reader. A second
 * signal ends the process at once.
 */
function stopWhenTold(sandbox: Stoppable, isBehind: boolean): void {
  const stop = () =>
    void sandbox.stop().then(
      () => process.exit(0),
      (error) => process.exit(reportFailure(error)),
    )
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => (sandbox.stopping ? process.exit(1) : stop()))
  }
  if (!isBehind) void whenNpxGoes(new SandboxClock(), stop)
  process.stdout.on('error', stop)
  // By itself, Node would first close what is still open, and was seen to wait for that for ever, at full speed.
  process.once('exit', (code) => process.exit(sandbox.lost ? 1 : code))
}

/** Completes the operating system's error about a taken port with the program that has it. */
async function sayWhoListens(error: NodeJS.ErrnoException & { port?: number }): Promise<never> {
  if (error.code !== 'EADDRINUSE' || error.port === undefined) throw error
  const { portOwner } = await import('../running/port-owner.ts')
  throw Object.assign(error, { owner: await portOwner(error.port) })
}

/** Reports to the command that started this process, which waits for it; ends if that has gone, or another sandbox came first. */
async function reportBehind(sandbox: Sandbox, report: BackgroundReport): Promise<void> {
  const failure = await new Promise<unknown>((resolve) => {
    if (process.connected) process.send?.(report, resolve)
    else resolve('nobody waits')
  })
  if (failure || !report.first) {
    await sandbox.stop()
    process.exit(1)
  }
  process.disconnect()
  const { clock } = sandbox.namespace.services.service
  const folder = process.cwd()
  // A worktree is removed without a thought of what runs in it.
  while (!sandbox.stopping && existsSync(folder)) await clock.wallSleep(LOOK_MS)
  await sandbox.stop()
  process.exit()
}

/** Where the sandbox in the background is, for a person. */
function whereabouts(
  { folder, pid, log }: Pick<SandboxRecord, 'folder' | 'pid' | 'log'>,
  { own, found }: { own: string; found: boolean },
): string {
  const runs = found ? 'ran already' : 'runs in the background'
  const logged = log === undefined ? '' : `\n  Its log is ${log}.`
  return `  It ${runs} for ${folder}, as process ${pid}; commands of that folder find it.${logged}
  ${own} stop ends it; it ends by itself after ${IDLE_EXIT} without use, unless --idle-exit says otherwise.
`
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
