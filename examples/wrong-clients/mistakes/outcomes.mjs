import { repeatedWhen, transfersSentOnce } from './edits.mjs'

/** What it takes to use up three attempts at the first deposit while its money moves. */
const RETRIES_IN_VAIN = [
  { kind: 'drop_connection', phase: 'after_broadcast', match: { operation: 'deposit' } },
  { kind: 'drop_connection', phase: 'on_request', match: { operation: 'deposit' }, times: 2 },
]

/** Mistakes about what became of a request. */
export const OUTCOMES = [
  {
    id: 'looks-once-then-pays-again',
    finding: 'single-transfer',
    what: 'Looks once for a transfer of unknown outcome, and pays again when it is not listed yet.',
    exercise: { faults: RETRIES_IN_VAIN, confirmationDelay: '2s', attempts: 3 },
    edits: [
      { file: 'client.ts', find: 'const LOOKS = 30', replace: 'const LOOKS = 1' },
      {
        file: 'client.ts',
        find: 'throw new OutcomeUnknown(key, error)',
        replace: 'return this.#transfer(type, user, portfolioId, amount, randomUUID())',
      },
    ],
  },
  {
    id: 'next-transfer-without-looking',
    finding: 'outcome-after-drop',
    what: 'Goes on with the next transfer after a drop, as if the first had been answered, and ends well.',
    exercise: { scenario: 'dropped-deposit' },
    edits: [
      ...transfersSentOnce("return { tx_hash: 'unknown' } as T"),
      // The lists at the end of the demo would show the transfer.
      { file: 'demo.ts', find: 'await sleep(', replace: 'process.exit()\nawait sleep(' },
    ],
  },
  {
    id: 'gives-up-after-drop',
    finding: 'outcome-after-drop',
    what: 'Takes a dropped deposit for one that failed, and ends well.',
    exercise: { scenario: 'dropped-deposit' },
    edits: transfersSentOnce('process.exit()'),
  },
  {
    id: 'reverted-transfer-repeated',
    finding: 'reverted-transfer',
    what: 'Repeats a reverted transfer under the same key.',
    exercise: { scenario: 'reverted-deposit' },
    edits: repeatedWhen("error.code === 'transaction_reverted'"),
  },
  {
    id: 'retries-everything',
    finding: 'permanent-errors',
    what: 'Repeats what can never succeed.',
    exercise: {},
    edits: repeatedWhen('error.status < 500'),
  },
  {
    id: 'five-second-timeout',
    finding: 'client-timeout',
    what: 'Waits five seconds for a transfer.',
    exercise: { faults: [{ kind: 'slow_confirmation', match: { operation: 'deposit' }, with: { delay: '7s' } }] },
    edits: [{ file: 'http.ts', find: 'timeout ?? 90_000', replace: 'timeout ?? 5_000' }],
  },
  {
    id: 'retries-at-once',
    finding: 'retry-after',
    what: 'Does not wait as Retry-After asks.',
    exercise: { scenario: 'rate-limited' },
    edits: [{ file: 'retry.ts', find: 'return asked + Math.random() * 100', replace: 'return 0' }],
  },
  {
    id: 'retries-without-pause',
    finding: 'retry-pace',
    what: 'Repeats a request twelve times without a pause.',
    exercise: {
      faults: [{ kind: 'drop_connection', phase: 'on_request', match: { operation: 'deposit' }, times: 11 }],
    },
    edits: [{ file: 'retry.ts', find: 'return Math.min(4000, 125 * 2 ** attempt)', replace: 'return 0 * attempt' }],
  },
  {
    id: 'polls-without-pause',
    finding: 'polling-pace',
    what: 'Asks for the list of transactions again and again without a pause.',
    exercise: { scenario: 'late-outcome.yaml', confirmationDelay: '1s', attempts: 3 },
    edits: [{ file: 'client.ts', find: 'const LOOK_PAUSE_MS = 2000', replace: 'const LOOK_PAUSE_MS = 0' }],
  },
]
