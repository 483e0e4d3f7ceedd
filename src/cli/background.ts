import { spawn } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import { OptionError } from '../option-error.ts'
import { environmentOf, type SandboxOptions } from '../options.ts'
import { clientOfRecord, findSandbox } from '../running/find-sandbox.ts'
import { privatePlaces } from '../running/private-place.ts'
import { projectFolder } from '../running/project-folder.ts'
import { logPathOf, type SandboxRecord } from '../running/sandbox-record.ts'
import { hasFixtures, optionsDigest } from '../running/started-with.ts'
import { version } from '../version.ts'
import { type BackgroundReport, LOG_FLAG } from './background-report.ts'

/** A sandbox in the background, for the command that started it, or found that it runs already. */
export interface BackgroundSandbox extends Omit<BackgroundReport, 'first'> {
  record: SandboxRecord
  /** True if it was running before. */
  found: boolean
}

/**
 * Starts a sandbox for this folder in a process that outlives the shell, and resolves when it can serve. If one runs already that was
 * started with the same options, resolves to that. Throws OptionError if it was started otherwise, and {@link BackgroundError}.
 */
export async function startInBackground(options: SandboxOptions): Promise<BackgroundSandbox> {
  const folder = projectFolder(process.cwd())
  const running = await ofFolder(folder)
  if (running) return { record: asWanted(running, options), found: true, ...(await connectionOf(running)) }
  const log = logPathOf(folder)
  if (log === undefined) {
    throw new BackgroundError(`none of ${privatePlaces().join(', ')} is a folder of yours alone: set XDG_RUNTIME_DIR`)
  }
  const report = await reportOfChild(log)
  const record = await ofFolder(folder)
  if (record === undefined) throw new BackgroundError(`the sandbox has ended; its log is ${log}`)
  if (!report.first) return { record: asWanted(record, options), found: true, ...(await connectionOf(record)) }
  return { record, found: false, ...report }
}

/** A sandbox that did not come up in the background; the message says why. */
export class BackgroundError extends Error {
  override readonly name = 'BackgroundError'
}

async function ofFolder(folder: string): Promise<SandboxRecord | undefined> {
  const found = await findSandbox(folder)
  return found?.folder === folder ? found : undefined
}

async function connectionOf(record: SandboxRecord) {
  return { credentials: await clientOfRecord(record).credentials(), inspector: undefined }
}

/** The record, if its sandbox is what the options ask for. Throws OptionError. */
function asWanted(record: SandboxRecord, options: SandboxOptions): SandboxRecord {
  const { folder, url, pid, started_at } = record
  const isSame = record.version === version && record.options === optionsDigest(options)
  if (isSame && hasFixtures(record, options.fixtures)) return record
  const other = record.version === version ? 'with other options or fixtures' : `by version ${record.version}`
  throw new OptionError(
    `${folder} has a sandbox already, started ${other}: ${url}, process ${pid}, since ${started_at}; end it with yield-sandbox stop`,
  )
}

const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_TRUNC, O_WRONLY } = constants

/** Starts the process, with the same command line, in a session of its own. Throws BackgroundError with what it had to say. */
async function reportOfChild(log: string): Promise<BackgroundReport> {
  const [, program = '', ...given] = process.argv
  const args = given.filter((word) => word !== '--background')
  const own = args[0] === 'start' ? args.slice(1) : args
  const { [environmentOf('background')]: _, ...env } = process.env
  const descriptor = openSync(log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW, 0o600)
  const child = spawn(process.execPath, [...process.execArgv, program, 'start', ...own, LOG_FLAG, log], {
    env,
    detached: true,
    stdio: ['ignore', descriptor, descriptor, 'ipc'],
  })
  closeSync(descriptor)
  try {
    return await new Promise<BackgroundReport>((resolve, reject) => {
      child.once('message', (report) => resolve(report as BackgroundReport))
      child.once('error', reject)
      child.once('exit', () => reject(new BackgroundError(wordsIn(log))))
    })
  } finally {
    if (child.connected) child.disconnect()
    child.unref()
  }
}

/** What a process that ended had to say; its own name is not repeated. */
function wordsIn(log: string): string {
  const text = readFileSync(log, 'utf8').trim()
  const [, said] = /^yield-sandbox: (.*)$/ms.exec(text) ?? []
  return said ?? (text === '' ? `the sandbox ended while it was starting; its log, ${log}, is empty` : text)
}
