import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { isHabit, PERHAPS_A_TEST } from '../evidence/doubts.ts'
import { idempotencyKeyOf, isOnRecord, sameBody } from '../evidence/requests.ts'
import { isWrite } from '../evidence/timelines.ts'
import { quote, requestInWords } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

export const idempotencyKeyPerOperation: Finding = {
  id: 'idempotency-key-per-operation',
  title: 'Each operation has an Idempotency-Key of its own',
  failureTitle: 'Several operations share an Idempotency-Key: all but the first may never happen',
  rule: 'Idempotency-Key: "Fresh per logical attempt." Endpoint 5, rule 3: "When the same Idempotency-Key is retried after completion, the server returns the cached response."',
  impact: 'critical',
  consequence:
    'For the service, one key is one operation. The second deposit under a key is refused, or gets the answer of the first and is never made.',
  situation: 'two deposits, withdrawals or new portfolios',
  exerciseWith: '',
  fix: 'Make a fresh key for each operation, and use it for the retries of that operation only.',
  wrongClients: ['one-key-for-everything', 'one-key-for-deposit-and-withdraw'],
  judge,
}

/** Maximum number of different requests under one key that are distinguished. */
const MOST = 10

/** A key and the different requests that came under it, oldest first. */
interface Use {
  key: string
  requests: RecordedExchange[]
}

function judge({ exchanges }: Evidence): Judgement {
  const uses = usesOf(exchanges)
  const shared = uses.filter(({ requests }) => requests.length > 1)
  const [first] = shared
  if (!first) {
    if (uses.length < 2)
      return notExercised('No two deposits, withdrawals or new portfolios came with an Idempotency-Key.')
    return passed(
      `${uses.length} operations came under ${uses.length} keys.`,
      uses.slice(0, 2).flatMap(({ requests }) => requests),
    )
  }
  const mixed = shared.find(({ requests: [one, ...others] }) => others.some((other) => one && isOfAnother(one, other)))
  const worst = mixed ?? first
  const shown = worst.requests
  const names = shown.map(requestInWords).join(', then ')
  const explanation = `The key ${quote(worst.key)} came with ${shown.length}${shown.length === MOST ? ' or more' : ''} different requests: ${names}. ${shared.length} of ${uses.length} keys ${shared.length === 1 ? 'was' : 'were'} shared.`
  if (mixed || worst.requests.length > 3 || isHabit(uses.length - shared.length, shared.length)) {
    return failed(explanation, { expected: 'a fresh UUID v4 for the second', came: quote(worst.key) }, shown)
  }
  return needsReview(`${explanation} ${PERHAPS_A_TEST}`, shown)
}

function usesOf(exchanges: readonly RecordedExchange[]): Use[] {
  const uses = new Map<string, Use>()
  for (const exchange of exchanges) {
    const key = idempotencyKeyOf(exchange)
    if (key === null || !isWrite(exchange)) continue
    const name = `${exchange.tenant} ${key.toLowerCase()}`
    const use = uses.get(name)
    if (!use) uses.set(name, { key, requests: [exchange] })
    else if (use.requests.length < MOST && use.requests.every((one) => isOther(one, exchange)))
      use.requests.push(exchange)
  }
  return [...uses.values()]
}

/** @returns true if two requests are of different kinds or end users; the service accepts both, so it is not a test of a refusal */
function isOfAnother(one: RecordedExchange, other: RecordedExchange): boolean {
  return one.operation !== other.operation || one.external_id !== other.external_id
}

/** @returns true if two requests certainly belong to different operations */
function isOther(one: RecordedExchange, other: RecordedExchange): boolean {
  if (isOfAnother(one, other)) return true
  return isOnRecord(one) && isOnRecord(other) && sameBody(one, other) === false
}
