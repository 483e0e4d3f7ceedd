import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { oneLine } from '../../support/foreign-text.ts'

const NEEDS = 'Anvil needs glibc 2.35 or later'
const FIX = 'Fix: use a system that has it, such as Ubuntu 22.04, Debian 12 or the image node:22-slim.'

/** Why the system would not run Anvil's binary, and what to do. */
export function spawnFailure(binary: string, { code, message }: NodeJS.ErrnoException): string {
  // The system says the same of a file that is not there and of one whose loader is not.
  if (code === 'ENOENT' && existsSync(binary)) return `could not be started: its loader is missing. ${libcNeeded()}`
  if (code === 'EACCES') {
    return `could not be started: ${binary} may not be executed. Fix: allow it, also by the mount (noexec).`
  }
  return `could not be started: ${message}`
}

/** What precedes and follows Anvil's last words: where in its own code, what to do about it, who called whom. */
const BEFORE = /^[\s\S]*The application panicked \(crashed\)\S*\s*Message:/
const AFTER = /\s*(Location:|Backtrace omitted|This is a bug|━+ BACKTRACE)[\s\S]*$/
/** Rust's words for EMFILE, which stand far behind what it was about to do. */
const TOO_MANY_FILES = /\(os error 24\)/
/** With a lower limit, no sandbox starts. */
const FEWEST_FILES = 64
/** With what is said around it, such a line is still readable. */
const MOST_WORDS = 160

/** What an Anvil that ended wrote, as one clean line, or what that means where the words do not say it. */
export function endReason(stderr: string): string {
  if (/version `GLIBC_[\d.]+' not found/.test(stderr)) return libcNeeded()
  // Where this process has no room for its connection, Anvil only says that nobody answers.
  if (TOO_MANY_FILES.test(stderr) || mostOpenFiles() < FEWEST_FILES)
    return 'too many files are open. Fix: raise the limit of open files (ulimit -n)'
  const words = stderr.replace(BEFORE, '').replace(AFTER, '')
  return oneLine(words.replace(/\bhttps?:\/\/[^\s)]+/g, '…'), MOST_WORDS) // such an address may hold a secret
}

/** Why Anvil's files cannot be made, and what to do. */
export function temporaryFailure({ message }: Error): string {
  return `Anvil's files cannot be made in the temporary directory ${tmpdir()} (${message}). Fix: make room there, let it be written, or set TMPDIR to another directory.`
}

function libcNeeded(): string {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  const has = header.glibcVersionRuntime
  return `${NEEDS}; ${has === undefined ? 'this system has another C library, such as musl' : `this system has ${has}`}. ${FIX}`
}

/** How many files this system lets a process have open; NaN where there is no limit. */
function mostOpenFiles(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } }
  return Number(userLimits?.open_files?.soft ?? Number.NaN)
}
