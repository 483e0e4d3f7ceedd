import type { Row } from './row.ts'
import type { HazardName } from './situations.ts'

/** A program takes a while to start: what is alike for all of them is tried with those in this process. */
const FOR_PROGRAMS: readonly HazardName[] = [
  'reset-after-broadcast',
  'half-a-body',
  '504-after-broadcast',
  'cut-json',
  'reset-on-request',
  '503-on-request',
  '429',
  'revert',
  'aged-user-token',
  'outage',
]

const library = (name: string, does: string): Row => ({ name, library: name, right: true, does })

const program = (name: string, does: string, command: NonNullable<Row['program']>): Row => {
  return { name, program: command, right: true, does, only: FOR_PROGRAMS }
}

/** Right clients of the libraries and languages that partners use. Each sends an order again under its key until it is told. */
export const LIBRARIES: readonly Row[] = [
  library('plain-fetch', '35 lines of fetch.'),
  library('axios', 'axios with an interceptor that sends a request again as it was.'),
  library('got', 'got with its own retries of POST, and a loop around it for a body that cannot be read.'),
  library('ky', 'ky with its own retries of POST, and the same loop.'),
  library('p-retry', 'p-retry around fetch.'),
  library('undici', 'undici with its RetryAgent, and the same loop.'),
  {
    ...program('python-outbox', 'Python with requests, and an outbox in sqlite.', ['python3', 'programs/outbox.py']),
    // It goes on to the next order while one waits, and the withdrawal finds nothing.
    scenarios: { 'rate-limited': '= told told refused' },
  },
  program('java', 'Java with java.net.http alone.', ['java', 'programs/Client.java']),
  program('curl', 'A shell script with curl, which repeats by itself, and jq.', ['bash', 'programs/curl.sh']),
]
