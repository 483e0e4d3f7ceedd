import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { beganAt, endedAt } from '../evidence/answers.ts'
import { addressOf, idempotencyKeyOf, isOnRecord, sameBody } from '../evidence/requests.ts'
import { plural, requestInWords } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

export const permanentErrors: Finding = {
  id: 'permanent-errors',
  title: 'A request that is refused for good is not repeated',
  failureTitle:
    'Requests that can never succeed are repeated: the end user waits for an error that the first answer gave',
  rule: 'Errors: 400, 403, 404 and 422 say what is wrong with the request or the state. Nothing asks clients to repeat them.',
  impact: 'serious',
  consequence:
    'Each mistake becomes a storm of equal requests, which a rate limit punishes for everybody. The end user waits for all the retries, and then gets the error of the first answer.',
  situation: 'a request that is refused with 400, 403, 404 or 422',
  exerciseWith: '',
  fix: 'Retry after 408, 429, 5xx and dropped connections only. Report every other 4xx with its code and the request id.',
  wrongClients: ['retries-everything'],
  judge,
}

/** 4xx statuses that may pass, and codes with findings of their own. */
const PASSING = new Set([401, 408, 409, 410, 425, 429])
const OWN_FINDING = new Set(['transaction_reverted', 'cursor_invalid', 'conflicting_cursors'])
/** Minimum number of requests under one key that cannot be a test of the refusal. */
const KEYED_LOOP = 3
/** Minimum number of requests without a key, in a row on one connection, that need review: each may belong to another test. */
const ROW = 3

/** A refused request and its repetitions, oldest first. */
type Run = RecordedExchange[]

function judge(evidence: Evidence): Judgement {
  const refused = evidence.exchanges.filter(isRefused)
  const [first] = refused
  if (!first) return notExercised('No request was refused with 400, 403, 404 or 422.')
  const runs = runsOf(evidence.exchanges)
  const loops = runs.filter(
    (run) => run.length >= KEYED_LOOP && idempotencyKeyOf(newest(run)) !== null && isOnRecord(newest(run)),
  )
  const [loop] = loops
  if (loop) {
    const more = loops.length > 1 ? ` ${plural(loops.length, 'request')} were repeated so.` : ''
    const values = { expected: 'no repetition', came: plural(loop.length - 1, 'repetition') }
    return failed(`${describe(loop)}${more}`, values, loop.slice(0, 3))
  }
  const [doubtful] = runs.filter((run) => run.length >= (idempotencyKeyOf(newest(run)) === null ? ROW : 2))
  if (doubtful) return needsReview(`${describe(doubtful)} ${doubtAbout(doubtful)}`, doubtful.slice(0, 3))
  if (!evidence.ended && evidence.exchanges.at(-1) === first)
    return needsReview(`${describe([first])} Nothing has followed so far.`, [first])
  return passed(`None of ${plural(refused.length, 'request')} that came to a refusal for good was repeated.`, [first])
}

function doubtAbout(run: Run): string {
  const known = sameBody(newest(run), run[0] as RecordedExchange) === true
  return known ? 'A test suite may do so on purpose.' : 'Not all their bodies are on record, so they may differ.'
}

function isRefused({ end, operation, response }: RecordedExchange): boolean {
  if (end !== 'answered' || response === null || operation === null || operation === 'token') return false
  const { status, code } = response
  return status >= 400 && status < 500 && !PASSING.has(status) && !OWN_FINDING.has(code ?? '')
}

function runsOf(exchanges: readonly RecordedExchange[]): Run[] {
  const runs = new RunsByRequest()
  const all: Run[] = []
  const newestOn = new Map<number, RecordedExchange>()
  for (const exchange of exchanges) {
    const run = runs.get(exchange)
    const before = newestOn.get(exchange.connection)
    newestOn.set(exchange.connection, exchange)
    // A success may change the answer to the next request.
    if (hasChangedSomething(exchange)) runs.clear()
    if (run && continues(exchange, run, before)) run.push(exchange)
    else if (isRefused(exchange)) {
      const begun = [exchange]
      runs.set(exchange, begun)
      all.push(begun)
    }
    if (!isRefused(exchange)) runs.delete(exchange)
  }
  return all
}

/** @returns true if it repeats the run: by its key, or as the next request of the connection */
function continues(exchange: RecordedExchange, run: Run, before: RecordedExchange | undefined): boolean {
  const last = newest(run)
  if (beganAt(exchange) < endedAt(last)) return false
  return idempotencyKeyOf(exchange) !== null || before === last
}

function newest(run: Run): RecordedExchange {
  return run[run.length - 1] as RecordedExchange
}

function hasChangedSomething({ end, operation, request, response }: RecordedExchange): boolean {
  if (operation === 'token' || request.method === 'GET') return false
  return end !== 'answered' || (response !== null && response.status < 300)
}

/** Runs by request, equal in everything that matters. Bodies may be long, so they serve as keys and are not copied into longer ones. */
class RunsByRequest {
  readonly #byBody = new Map<string | null, Map<string, Run>>()

  get(exchange: RecordedExchange): Run | undefined {
    return this.#byBody.get(exchange.request.body)?.get(headOf(exchange))
  }

  set(exchange: RecordedExchange, run: Run): void {
    const { body } = exchange.request
    const alike = this.#byBody.get(body) ?? new Map<string, Run>()
    this.#byBody.set(body, alike.set(headOf(exchange), run))
  }

  delete(exchange: RecordedExchange): void {
    this.#byBody.get(exchange.request.body)?.delete(headOf(exchange))
  }

  clear(): void {
    this.#byBody.clear()
  }
}

function headOf(exchange: RecordedExchange): string {
  const { idp_token, user_token } = exchange.request
  return JSON.stringify([addressOf(exchange), idp_token?.fingerprint, user_token?.fingerprint])
}

function describe(run: Run): string {
  const [first] = run
  const { response } = first as RecordedExchange
  const answer = `${response?.status} ${response?.code ?? ''}`.trim()
  const again = run.length > 1 ? ` and came again as it was ${plural(run.length - 1, 'time')}` : ''
  return `${requestInWords(first as RecordedExchange)} was answered ${answer}${again}.`
}
