import { isUrl, withVariables } from '../explore/crash/app-server.ts'
import { crashOf } from '../explore/crash/crash-points.ts'
import type { RestartTerms } from '../explore/crash/play-crash.ts'
import { OptionError } from '../option-error.ts'
import { shorten } from '../support/foreign-text.ts'
import { MAX_RESTARTS } from './run-flags.ts'

/** Flags of `explore` that say how the command is killed and started again. */
export interface CrashFlags {
  crash?: boolean
  recover?: string
  kill?: string
  app?: string
  ready?: string
  until?: string
}

/** Those, and the others that matter for them. */
interface Around extends CrashFlags {
  faults: readonly string[]
  trial?: string
  restarts: number
  jobs?: number
  timeout?: number
}

/** Default of the time in which a server must be ready, in milliseconds. */
const READY_MS = 60_000

/**
 * How the command, or the server that it drives, is killed and started again. Undefined where nothing is ever killed. Throws OptionError for
 * flags that have no meaning together, and where the platform has no process groups.
 */
export function restartTerms(flags: Around, platform: string = process.platform): RestartTerms | undefined {
  const { crash = false, trial, faults, recover, kill, restarts } = flags
  const named = [...faults, ...(trial?.split(/[ +]/) ?? [])]
  if (!crash && !named.some((name) => crashOf(name))) {
    refuseAlone(flags)
    return undefined
  }
  if (platform === 'win32')
    throw new OptionError(
      '--crash cannot work on Windows, which has no process groups to kill: run it in WSL, in a container or on CI with Linux',
    )
  return { recover, kill, restarts: restarts || MAX_RESTARTS, app: appTerms(flags) }
}

/** Throws OptionError for the first flag that has a meaning only where something is killed. */
function refuseAlone({ trial, recover, kill, app, ready, until }: Around): void {
  const given = Object.entries({ recover, kill, app, ready, until }).filter(([, value]) => value !== undefined)
  const [alone] = given.map(([name]) => name)
  if (alone === undefined) return
  const fix = trial === undefined ? 'give --crash as well' : 'give a --trial that does it, such as killed-on-request'
  throw new OptionError(`--${alone} has a meaning only where the command is killed: ${fix}`)
}

function appTerms({ app, ready, until, recover, timeout = READY_MS, jobs }: Around): RestartTerms['app'] {
  if (app === undefined) {
    const alone = ready !== undefined ? 'ready' : until !== undefined ? 'until' : undefined
    if (alone === undefined) return undefined
    throw new OptionError(`--${alone} has a meaning only with a server: give --app <command> as well`)
  }
  if (recover !== undefined)
    throw new OptionError('--recover does not go with --app: the server itself is started again. Leave one of them out')
  if (ready === undefined)
    throw new OptionError(
      "--app needs --ready <url or command>: how it is known that the server can be used, such as 'http://127.0.0.1:$YIELD_APP_PORT/health'",
    )
  if (isUrl(ready)) refuseUrl(ready, jobs)
  return { command: app, ready, readyWithin: timeout, until }
}

/** Throws OptionError for a URL that cannot be asked, or that belongs to one server only. */
function refuseUrl(ready: string, jobs: number | undefined): void {
  const url = withVariables(ready, { YIELD_APP_PORT: '1' })
  if (!URL.canParse(url) || /^https?:\/\/[^/]*:(\/|$)/i.test(url))
    throw new OptionError(
      `--ready "${shorten(ready)}" is not a URL with a port; in single quotes the shell leaves $YIELD_APP_PORT alone: 'http://127.0.0.1:$YIELD_APP_PORT/health'`,
    )
  if (hasFixedPort(ready) && jobs !== undefined && jobs > 1)
    throw new OptionError(
      `--ready "${shorten(ready)}" is the same for all servers, and --jobs ${jobs} starts several at once: write $YIELD_APP_PORT for its port, or give --jobs 1`,
    )
}

/** @returns true if all runs have the same URL, so that only one server may run at a time */
export function hasFixedPort(ready: string | undefined): boolean {
  return ready !== undefined && isUrl(ready) && !ready.includes('$')
}

/** The flags that repeat these. */
export function crashFlags({ recover, kill, app, ready, until }: CrashFlags): string[] {
  const given = Object.entries({ recover, kill, app, ready, until })
  return given.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]))
}
