import { relative } from 'node:path'
import { ControlError } from '../control/control-error.ts'
import { findSandbox } from '../running/find-sandbox.ts'
import type { SandboxRecord } from '../running/sandbox-record.ts'
import { INHERITED, reasonNotToJoin } from '../running/started-with.ts'
import { say } from './run-flags.ts'

/** The flags that decide whether a command runs within the sandbox of its folder. */
export interface JoinFlags {
  /** False with `--no-join`. */
  join: boolean
  fixtures?: string
  logLevel: string
}

/**
 * The sandbox of this folder, if a run within it is the same as one against a sandbox of its own; undefined if there is none. Reports in a
 * line which one it is, or why none is joined.
 */
export async function sandboxToJoin(flags: JoinFlags): Promise<SandboxRecord | undefined> {
  if (!flags.join) return undefined
  const found = await findSandbox()
  if (found === undefined) return undefined
  const reason = reasonAgainst(found, flags)
  if (reason === undefined)
    say(`runs within the sandbox of ${found.folder} at ${found.url} (--no-join starts another one)`)
  else say(`starts a sandbox of its own: ${reason}`)
  return reason === undefined ? found : undefined
}

function reasonAgainst(found: SandboxRecord, { fixtures, logLevel }: JoinFlags): string | undefined {
  const reason = reasonNotToJoin(found, { fixtures, without: INHERITED })
  if (reason !== undefined || logLevel === 'error') return reason
  return '--log-level shows the log of a sandbox of its own'
}

/** The fixture file of a joined sandbox as a flag would name it here, so that a printed command gives the same without it. */
export function withFixturesOf<Flags extends { fixtures?: string }>(
  flags: Flags,
  host: SandboxRecord | undefined,
): Flags {
  if (flags.fixtures !== undefined || host?.fixtures === undefined) return flags
  return { ...flags, fixtures: relative(process.cwd(), host.fixtures.path) }
}

/** The sandbox that a run was made within has ended meanwhile: nothing can be said of the client. */
export class HostGoneError extends Error {
  override readonly name = 'HostGoneError'

  constructor({ folder, url }: SandboxRecord, cause: ControlError) {
    const message = `the sandbox of ${folder} at ${url} has ended while the command ran within it, so there is no verdict: run it again, with --no-join in a sandbox of its own`
    super(message, { cause })
  }
}

/** Runs what is done within `host`, if there is one. Throws {@link HostGoneError} if that does not answer any more. */
export async function within<Result>(host: SandboxRecord | undefined, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    if (host && error instanceof ControlError && error.code === 'sandbox_unreachable')
      throw new HostGoneError(host, error)
    throw error
  }
}
