import { BaselineFailure } from '../explore/run/baseline-failure.ts'
import { visibleText } from '../support/foreign-text.ts'
import { progress } from './progress.ts'

/** Exit codes of failures that a person can act on: their message names the fault and the fix. */
const KNOWN: Record<string, number> = {
  OptionError: 2,
  OwnedElsewhereError: 1,
  FixtureError: 2,
  BaselineError: 2,
  BaselineFailure: 1,
  BackgroundError: 1,
  CommandStartError: 2,
  DataDirectoryError: 1,
  DatabaseError: 1,
  HostGoneError: 4,
  InvalidArgumentError: 2,
  AnvilBinaryMissingError: 1,
  AnvilStartError: 1,
  ChainSetupError: 1,
  ChainUnavailableError: 1,
  ControlError: 1,
  RefusedError: 2,
  ScenarioError: 2,
  SnapshotError: 2,
  TlsError: 2,
}

/** Prints why a command failed: one line per fault, without a stack for known failures. Returns the exit code. */
export function reportFailure(error: unknown): number {
  const { name, message, code, stack } = error instanceof Error ? withCode(error) : withCode(new Error(String(error)))
  const line = messageOf(code) ?? (name in KNOWN ? message : undefined)
  progress.end()
  process.stderr.write(`yield-sandbox: ${visibleText(line ?? stack ?? message)}\n`)
  // The exit code of the user's own command, if that is what failed.
  if (error instanceof BaselineFailure) return error.exitCode
  return KNOWN[name] ?? 1
}

function withCode(error: Error & { code?: string }) {
  return { name: error.name, message: error.message, code: { ...error, code: error.code }, stack: error.stack }
}

interface SystemFailure {
  code?: string | undefined
  address?: string
  port?: number
  /** The program that has the port, if it is known. */
  owner?: string | undefined
}

function takenBy(owner: string | undefined): string {
  return owner === undefined ? '' : ` by ${owner}`
}

/** The operating system's error about the port, in words that name the fix. */
function messageOf({ code, address, port, owner }: SystemFailure) {
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} on ${address} is taken${takenBy(owner)}; stop that, or let --port auto pick a free one`
    case 'EACCES':
      return `port ${port} needs privileges; choose one above 1023 with --port`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `this machine has no such address to listen on; choose another with --host`
    case 'ENOSPC':
      return 'no space is left on the device that this is written to'
    default:
      return undefined
  }
}
