import type { SandboxOptions } from '../options.ts'
import { findSandbox } from '../running/find-sandbox.ts'
import { projectFolder } from '../running/project-folder.ts'
import { dropRecord, writeRecord } from '../running/sandbox-record.ts'
import { fixturesNow, flagsOf, optionsDigest } from '../running/started-with.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { version } from '../version.ts'

/**
 * Writes down that this process's sandbox is that of its folder, until the process ends, so that later commands find it. Resolves to
 * false if another one already is, or nothing can be written down.
 */
export async function recordStart(sandbox: Sandbox, given: SandboxOptions, log: string | undefined): Promise<boolean> {
  const { instance, listeningUrl: url, caFile, options } = sandbox
  const now = sandbox.namespace.services.service.clock.wallNow()
  const folder = projectFolder(process.cwd())
  if ((await findSandbox(folder))?.folder === folder) return false
  const fixtures = fixturesNow(given.fixtures)
  const record = {
    ...{ instance, url, pid: process.pid, version, folder, started_at: new Date(now).toISOString() },
    options: optionsDigest(given),
    flags: flagsOf(given),
    ...(options.controlToken !== undefined && { control_token: options.controlToken }),
    ...(caFile !== undefined && { ca_file: caFile }),
    ...(fixtures !== undefined && { fixtures }),
    ...(log !== undefined && { log }),
  }
  // The first of the listeners: another one ends the process at once.
  process.prependOnceListener('exit', () => dropRecord(record))
  return writeRecord(record)
}
