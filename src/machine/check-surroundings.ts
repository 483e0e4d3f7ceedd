import { createServer } from 'node:net'
import { ControlClient } from '../control/client.ts'
import { SandboxClock } from '../domain/clock.ts'
import { DEFAULT_FIXTURES, readFixture } from '../read-fixture.ts'
import { FileError } from '../yaml-file/file-error.ts'
import type { MachineCheck } from './machine-check.ts'

/** Checks whether a sandbox could listen on the port of 127.0.0.1; one that runs there already is worth knowing. */
export async function checkPort(port: number): Promise<MachineCheck> {
  const refusal = await refusalOf(port)
  if (refusal === undefined) return { id: 'port', state: 'good', detail: `${port} is free` }
  if (refusal === 'EACCES') {
    return { id: 'port', state: 'broken', detail: `${port} needs privileges`, fix: 'choose one above 1023 with --port' }
  }
  const running = await new ControlClient(`http://127.0.0.1:${port}`).health().catch(() => undefined)
  if (running) {
    const detail = `${port} is that of a sandbox ${running.version}, up ${running.uptime_seconds} s`
    const fix = `use it, end it with yield-sandbox stop --url localhost:${port}, or start another with --port 0`
    return { id: 'port', state: 'note', detail, fix }
  }
  const fix = `stop what uses it, or choose another: --port 0 picks a free one`
  return { id: 'port', state: 'broken', detail: `${port} is taken by another program (${refusal})`, fix }
}

/** The error code of the system for listening there; undefined if it can be done. */
function refusalOf(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', ({ code = 'error' }: NodeJS.ErrnoException) => resolve(code))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(undefined)))
  })
}

/** Reads the fixture file that a start would take. */
export async function checkFixtures(file: string = DEFAULT_FIXTURES): Promise<MachineCheck> {
  const shown = file === DEFAULT_FIXTURES ? 'the shipped file' : file
  try {
    const { tenants } = await readFixture(file)
    return { id: 'fixtures', state: 'good', detail: `${shown} is sound, ${tenants.length} tenants` }
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    const [first = '', ...more] = error.message.split('\n')
    const detail = more.length > 0 ? `${first} (and ${more.length} more)` : first
    return { id: 'fixtures', state: 'broken', detail, fix: `yield-sandbox fixtures validate ${shown} names all of it` }
  }
}

/** This version was not there before: a clock that shows an earlier moment is wrong. */
const FIRST_DAY = Date.UTC(2026, 0, 1)
/** Seconds by which two clocks may differ: that of HTTP counts whole seconds, and the answer was under way. */
const SLACK_S = 3

/**
 * Checks this machine's clock against what is known without a network: the days of this version, and the clock of the sandbox at `url`, if
 * one answers there. Token lifetimes need clocks that agree: a container's can be another one.
 */
export async function checkClock(url: string, now = new SandboxClock().wallNow()): Promise<MachineCheck> {
  const fix = 'set the clock of this machine, such as by NTP: tokens are refused where it is wrong'
  const shown = new Date(now).toISOString()
  if (now < FIRST_DAY) return { id: 'clock', state: 'broken', detail: `this machine's clock says ${shown}`, fix }
  const theirs = await clockAt(url)
  if (theirs === undefined)
    return { id: 'clock', state: 'good', detail: `${shown}; no sandbox runs to compare it with` }
  const ahead = Math.round((theirs - now) / 1000)
  const detail = `the sandbox's clock is ${Math.abs(ahead)} s ${ahead < 0 ? 'behind' : 'ahead of'} this machine's`
  if (Math.abs(ahead) > SLACK_S) return { id: 'clock', state: 'broken', detail, fix }
  return { id: 'clock', state: 'good', detail: `${shown}, as that of the sandbox at ${url}` }
}

async function clockAt(url: string): Promise<number | undefined> {
  try {
    const { headers } = await fetch(`${url}/_sandbox/health`)
    const date = headers.get('date')
    return date === null ? undefined : Date.parse(date)
  } catch {
    return undefined
  }
}

const PROXIES = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']
const LOOPBACK = ['127.0.0.1', 'localhost']

/** Checks for a proxy that clients would send requests for 127.0.0.1 through. Values are not shown: they may hold a password. */
export function checkProxy(env: NodeJS.ProcessEnv): MachineCheck {
  const set = PROXIES.filter((name) => env[name])
  if (set.length === 0) return { id: 'proxy', state: 'good', detail: 'none is set for http' }
  const spared = `${env.NO_PROXY ?? ''},${env.no_proxy ?? ''}`.split(/[\s,]+/)
  const missing = spared.includes('*') ? [] : LOOPBACK.filter((host) => !spared.includes(host))
  if (missing.length === 0)
    return { id: 'proxy', state: 'good', detail: `${set.join(', ')} is set and spares loopback` }
  const detail = `${set.join(', ')} is set, and NO_PROXY does not name ${missing.join(' and ')}: clients may ask the proxy for the sandbox`
  return { id: 'proxy', state: 'note', detail, fix: 'export NO_PROXY=127.0.0.1,localhost' }
}
