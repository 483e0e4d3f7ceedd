import { atOnce } from '../support/breathe.ts'
import { shorten } from '../support/foreign-text.ts'
import { grouped } from '../support/maps.ts'
import { amountInWords } from '../support/quantities.ts'
import { compareRuns, madeBy, madeName } from './compare-runs.ts'
import type { Facts, Ledger, Sibling } from './facts.ts'
import { type ClientOperation, firstBeginOf, lastEndOf, OPERATIONS_A_STEP, operationsInSteps } from './operation.ts'
import {
  type Level,
  type OperationOutcome,
  type OperationType,
  OUTCOMES,
  type OutcomeId,
  outcomeRank,
} from './outcome.ts'
import { addressOf, RunSurroundings, SLACK_MS, type Telling, toldOf } from './told.ts'

/** Optional context of a judgement. */
export interface Beside {
  /** Another run of the same command without faults, if there is one. */
  sibling?: Sibling | undefined
  /** Number of the last exchange of the command's first start, if it was started again. */
  restarted?: number | undefined
  /** Of a client that was killed: the number of the last exchange before each further start, in order. Each may ask for all its lists anew. */
  starts?: readonly number[] | undefined
  /** Address by which the requests of a second process came that ran beside the client: what both carry out is one order. */
  twin?: string | undefined
}

/** Judges every operation of a run, the worst outcome first, by the table of docs/oracle.md. Pure. */
export function judgeOperations(facts: Facts, beside?: Beside): OperationOutcome[] {
  return atOnce(judgementInSteps(facts, beside))
}

/** The same in steps, so that other tasks can run in between. */
export function* judgementInSteps(
  facts: Facts,
  { sibling, restarted = Number.POSITIVE_INFINITY, starts, twin }: Beside = {},
): Generator<undefined, OperationOutcome[]> {
  const operations = yield* operationsInSteps(facts)
  const around = new RunSurroundings(facts, sibling, { starts, twin })
  const run = { facts, around, operations, twin }
  const surplus = twin === undefined ? SURPLUS : SURPLUS_OF_TWINS
  const judged: { operation: ClientOperation; own: OperationOutcome | undefined; outcome: OutcomeId | undefined }[] = []
  for (const operation of operations) {
    if (judged.length % OPERATIONS_A_STEP === 0) yield
    const [own] = judgeOne(operation, run)
    judged.push({ operation, own, outcome: own?.outcome })
  }
  yield
  const differences = sibling
    ? compareRuns(judged, {
        sibling,
        end: facts.end,
        restarted,
        repeats: starts !== undefined || twin !== undefined,
      })
    : []
  const outcomes = [
    ...runOutcomes(facts),
    ...judged.flatMap(({ own }) => own ?? []),
    ...differences.map(({ outcome, operation }) =>
      outcomeOf(operation, outcome, { facts, sentence: surplus[outcome] }),
    ),
    ...equalAtOnce(operations, run),
    ...operations.flatMap((one) => keyAgain(one, run)),
  ]
  return outcomes.sort((a, b) => outcomeRank(a) - outcomeRank(b))
}

/** Sentences of outcomes that only the comparison with the unharmed run shows. */
const SURPLUS: Partial<Record<OutcomeId, (what: string) => string>> = {
  paid_twice: (what) =>
    `${what} was carried out more often than without faults. If your test runner repeats failed tests, switch that off.`,
  made_twice: (what) => `${what} was made more often than without faults.`,
}

/** The same, where two processes ran at once. */
const SURPLUS_OF_TWINS: typeof SURPLUS = {
  paid_twice: (what) => `${what} was carried out more often by two processes than by one.`,
  made_twice: (what) => `${what} was made more often by two processes than by one.`,
}

interface JudgedRun {
  facts: Facts
  around: RunSurroundings
  operations: readonly ClientOperation[]
  twin: string | undefined
}

/** Outcomes of the run as a whole: something was forgotten, or it never ended. */
function runOutcomes({ forgotten, taken_over, end }: Facts): OperationOutcome[] {
  const { room, deleted, reset } = forgotten
  const whole = { tenant: null, external_id: null, type: 'deposit' as const, idempotency_key: null }
  const of = (outcome: OutcomeId, sentence: string): OperationOutcome => ({
    ...{ outcome, level: OUTCOMES[outcome].level, sentence, ...whole },
    ...{ amount_minor: null, portfolio_id: null, request_ids: [] },
  })
  const reasons = [
    // Resets are normal in a sandbox that serves no command (`end` is null): its user starts afresh on purpose.
    ...(reset > 0 && end !== null ? [`${requests(reset)} before a reset of the sandbox`] : []),
    ...(deleted > 0 ? [`${requests(deleted)} that were deleted from the record`] : []),
    ...(taken_over === undefined
      ? []
      : [`any request before ${taken_over}: the record begins with a takeover from another process`]),
    ...(room > 0 ? [`${requests(room)} for which the record had no room (--record-exchanges)`] : []),
  ]
  return [
    ...(reasons.length > 0 ? [of('forgotten', `Nothing is said of ${reasons.join(', nor of ')}.`)] : []),
    ...(end === 'hung' ? [of('hung', 'Your command was not done in time.')] : []),
  ]
}

function requests(count: number): string {
  return count === 1 ? 'one request' : `${count} requests`
}

/** Rows that are not certain before the client has ended. */
const OPEN: readonly OutcomeId[] = ['untold', 'left_open', 'lucky', 'gave_up', 'gave_up_looked']

/** The first row that fits; none for an operation that the record never had. */
function judgeOne(operation: ClientOperation, run: JudgedRun): OperationOutcome[] {
  const { facts, around } = run
  if (operation.attempts.length === 0) {
    const known = facts.forgotten.room + facts.forgotten.deleted > 0
    return known ? [outcomeOf(operation, 'forgotten', { facts })] : []
  }
  const [outcome, by, usual] = rowOf(operation, toldOf(operation, around), run)
  const level = PATIENT.includes(outcome) && isOutlasted(operation) ? 'warning' : usual
  if (!facts.ended && OPEN.includes(outcome)) return [outcomeOf(operation, 'not_known_yet', { facts })]
  return [outcomeOf(operation, outcome, { facts, by, level })]
}

/** Rows that are right where an outage outlasts any patience: the client has given up, and its command reported it. */
const PATIENT: readonly OutcomeId[] = ['left_open', 'gave_up']

/** @returns true if the last attempt was lost in an outage, which loses up to twelve attempts under one key */
function isOutlasted({ attempts }: ClientOperation): boolean {
  return attempts.at(-1)?.exchange.faults.some(({ kind }) => kind === 'outage') ?? false
}

function rowOf(operation: ClientOperation, telling: Telling, run: JudgedRun): Row {
  if (operation.attempts.some(({ exchange }) => exchange.end === 'cut_off')) return ['forgotten']
  if (operation.state === 'under_way') return ['not_known_yet']
  if (operation.state === 'not_done') return whenNotDone(operation, telling, run)
  return paidAgain(operation, run) ?? (operation.transfers.length > 1 ? ['key_expired'] : whenDone(telling, run.facts))
}

type Row = [outcome: OutcomeId, by?: readonly { request_id: string }[], level?: Level | undefined]

/** Rows of an operation that was carried out. */
function whenDone({ told, by }: Telling, { end }: Facts): Row {
  switch (told) {
    case 'done':
      return ['told']
    case 'found':
      return ['found', by]
    case 'false':
      return ['misled']
    case 'refused':
      return ['key_expired']
    case 'in_passing':
    case 'balance':
    case 'chain':
      return ['perhaps_told', by]
    default:
      return end === 'well' ? ['untold', by] : ['left_open', by]
  }
}

/** Rows of an operation that was not carried out. */
function whenNotDone(operation: ClientOperation, { told, by, looked }: Telling, run: JudgedRun): Row {
  switch (told) {
    case 'done':
    case 'found':
      return ['contradiction', by]
    case 'refused':
    case 'false':
      return ['refused']
    case 'put_off':
      return ['put_off']
    default: {
      const [other] = sentAgain(operation, run)
      if (other) return ['lucky', firstOf(other)]
      if (looked) return ['gave_up_looked', by]
      return ['gave_up', [], run.around.sibling ? undefined : 'review']
    }
  }
}

/**
 * Operations that repeat this one under another key, begun after every attempt of this one had ended and told nothing. If the money
 * had moved, a balance counts as nothing for a client that sent it again: many list portfolios before each transfer.
 */
function sentAgain(operation: ClientOperation, { operations, around }: JudgedRun): ClientOperation[] {
  if (operation.wish === null) return []
  const end = lastEndOf(operation)
  return operations.filter((other) => {
    const began = firstBeginOf(other)
    if (other === operation || !isSame(other, operation) || began + SLACK_MS < end) return false
    const { told } = toldOf(operation, around, began)
    return told === 'nothing' || (told === 'balance' && operation.state === 'done')
  })
}

function isSame(one: ClientOperation, other: ClientOperation): boolean {
  return (
    one.wish === other.wish &&
    one.type === other.type &&
    one.external_id === other.external_id &&
    one.tenant === other.tenant
  )
}

/** The row of an operation that was carried out without an answer, sent again under another key, and carried out again. */
function paidAgain(operation: ClientOperation, run: JudgedRun): Row | undefined {
  if (operation.attempts.every(({ said }) => said !== 'nothing')) return undefined
  const again = sentAgain(operation, run).filter(({ state }) => state === 'done')
  const [other] = again
  if (!other || isAsOften(operation, run)) return undefined
  const by = again.flatMap(firstOf)
  if (operation.type === 'create_portfolio') return ['made_twice', by]
  const back = run.operations.find((one) => isTakenBack(one, other))
  return back ? ['paid_twice_put_right', [...by, ...firstOf(back)]] : ['paid_twice', by]
}

/** The first request of an operation. */
function firstOf({ attempts }: ClientOperation): ClientOperation['attempts'][number]['exchange'][] {
  return attempts.slice(0, 1).map(({ exchange }) => exchange)
}

/** @returns true if `one` is an equal withdrawal, carried out after the deposit */
function isTakenBack(one: ClientOperation, deposit: ClientOperation): boolean {
  return (
    deposit.type === 'deposit' &&
    one.type === 'withdraw' &&
    one.state === 'done' &&
    one.wish === deposit.wish &&
    one.external_id === deposit.external_id &&
    one.tenant === deposit.tenant &&
    firstBeginOf(one) + SLACK_MS >= lastEndOf(deposit)
  )
}

/** @returns true if the unharmed run has as many equal ones: then the suite makes two orders of one amount on purpose */
function isAsOften(operation: ClientOperation, { operations, around: { sibling } }: JudgedRun): boolean {
  if (!sibling) return false
  const name = madeName(madeBy(operation, sibling))
  const equal = operations.filter((one) => one.state === 'done' && madeName(madeBy(one, sibling)) === name)
  return equal.length <= (sibling.made.find((made) => madeName(made) === name)?.count ?? 0)
}

/**
 * Pairs of equal operations in flight at once under two keys, both carried out. A suite may do this on purpose, and does so where the
 * unharmed run has as many equal ones; whether they overlapped there as well is chance. Two processes with one job have no such purpose.
 */
function equalAtOnce(operations: readonly ClientOperation[], run: JudgedRun): OperationOutcome[] {
  const level = run.twin !== undefined ? 'critical' : run.around.sibling ? 'review' : undefined
  const done = operations.filter(
    ({ type, state, wish }) => type !== 'create_portfolio' && state === 'done' && wish !== null,
  )
  const equal = grouped(done, ({ tenant, external_id, type, wish }) =>
    JSON.stringify([tenant, external_id, type, wish]),
  )
  return [...equal.values()].flatMap((group) =>
    overlapping(group)
      .filter(([one]) => !isAsOften(one, run))
      .map(([one, other]) => outcomeOf(one, 'equal_at_once', { facts: run.facts, by: firstOf(other), level })),
  )
}

/** Operations with the next one that was in flight at the same time, or that began before the first came again under its own key. */
function overlapping(operations: readonly ClientOperation[]): [ClientOperation, ClientOperation][] {
  const inOrder = operations.map((operation) => ({
    operation,
    began: firstBeginOf(operation),
    ended: lastEndOf(operation),
  }))
  return inOrder.flatMap(({ operation, began, ended }, i): [ClientOperation, ClientOperation][] => {
    const next = inOrder[i + 1]
    const isAtOnce = next && next.began + SLACK_MS < ended && began + SLACK_MS < next.ended
    return isAtOnce ? [[operation, next.operation]] : []
  })
}

/**
 * Reports a key that came again after its answer was handed over and read: a further request came on that connection. A second process
 * that sends the key again is what the key is for.
 */
function keyAgain(operation: ClientOperation, { facts, around: { sibling }, twin }: JudgedRun): OperationOutcome[] {
  const { attempts } = operation
  const at = attempts.findIndex(({ said }) => said === 'done')
  const answered = attempts[at]
  const again = answered && attempts.slice(at + 1).find(({ began }) => began + SLACK_MS >= answered.ended)
  if (!again || !isRead(answered.exchange, facts)) return []
  if (twin !== undefined && addressOf(again.exchange) !== addressOf(answered.exchange)) return []
  const level = sibling && !sibling.key_again ? ('review' as const) : undefined
  return [outcomeOf(operation, 'key_again', { facts, level })]
}

function isRead({ connection, number }: Facts['exchanges'][number], { exchanges }: Facts): boolean {
  return exchanges.some((one) => one.connection === connection && one.number > number)
}

interface Shown {
  facts: Facts
  by?: readonly { request_id: string }[] | undefined
  level?: Level | undefined
  /** Replaces the sentence of the outcome. */
  sentence?: ((what: string) => string) | undefined
}

/** Portfolios are one step milder: no money has moved. */
const MILDER: Partial<Record<Level, Level>> = {
  critical: 'serious',
  serious: 'review',
  review: 'warning',
  warning: 'note',
}

function outcomeOf(
  operation: ClientOperation,
  outcome: OutcomeId,
  { facts, by = [], level, sentence }: Shown,
): OperationOutcome {
  const { tenant, external_id, type, key, amount_minor, portfolio_id, attempts } = operation
  const what = describeOperation(operation, facts.ledger)
  const usual = level ?? OUTCOMES[outcome].level
  const isMilder = type === 'create_portfolio' && outcome !== 'made_twice'
  const requestIds = [...attempts.map(({ exchange }) => exchange), ...by].map(({ request_id }) => request_id)
  return {
    outcome,
    level: isMilder ? (MILDER[usual] ?? usual) : usual,
    sentence: sentence?.(what) ?? sentenceOf(outcome, operation, what),
    ...{ tenant, external_id, type, idempotency_key: key, amount_minor, portfolio_id },
    request_ids: [...new Set(requestIds)],
    ...movedWrongly(operation, outcome, facts.ledger),
  }
}

/** Each operation answers for itself: of three equal payments, two were sent again, and each counts one that was too many. */
function movedWrongly(
  { transfers }: ClientOperation,
  outcome: OutcomeId,
  { portfolios }: Ledger,
): Pick<OperationOutcome, 'money_moved_wrongly'> {
  const moved = transfers.at(-1)
  const times = outcome === 'key_expired' ? transfers.length - 1 : MOVED_WRONGLY.includes(outcome) ? 1 : 0
  const portfolio = portfolios.find(({ portfolio_id }) => portfolio_id === moved?.portfolio_id)
  if (!moved || !portfolio || times === 0) return {}
  const { tenant, external_id, portfolio_id, amount_minor } = moved
  const { token_symbol, token_decimals } = portfolio
  return {
    money_moved_wrongly: { tenant, external_id, portfolio_id, amount_minor, token_symbol, token_decimals, times },
  }
}

/** Outcomes by which money is at the wrong place. */
const MOVED_WRONGLY: readonly OutcomeId[] = ['paid_twice', 'took_out_unpaid']

const NOUNS: Record<OperationType, string> = {
  deposit: 'deposit',
  withdraw: 'withdrawal',
  create_portfolio: 'new portfolio',
}

/** Names an operation by end user and amount: "alice's deposit of 250.00 USDC". */
export function describeOperation(operation: ClientOperation, { portfolios }: Ledger): string {
  const { external_id, type, amount_minor, portfolio_id, pool_id } = operation
  const portfolio =
    portfolio_id === null
      ? portfolios.find((one) => pool_id !== null && one.pool_id === pool_id)
      : portfolios.find((one) => one.portfolio_id === portfolio_id)
  const whose = external_id === null ? `A ${NOUNS[type]}` : `${shorten(external_id, 40)}'s ${NOUNS[type]}`
  if (amount_minor === null) return whose
  if (!portfolio || !/^\d{1,78}$/.test(amount_minor)) return `${whose} of ${shorten(amount_minor, 40)} minor units`
  return `${whose} of ${amountInWords(BigInt(amount_minor), portfolio.token_decimals)} ${portfolio.token_symbol}`
}

const HINT =
  'That is right only if your app keeps it open and asks again later: --restarts 1 runs the command once more and judges then, and --books asks your app what it believes'

/** Explains an outcome to people in one sentence or two. `what` names the operation. */
export function sentenceOf(outcome: OutcomeId, operation: ClientOperation, what: string): string {
  const { transfers, attempts } = operation
  const answer = lastAnswerOf(operation)
  const made = operation.type === 'create_portfolio' ? 'was made' : 'was carried out'
  const sentences: Record<OutcomeId, string> = {
    paid_twice: `${what} had no answer, was sent again under another key, and was carried out both times.`,
    paid_twice_put_right: `${what} had no answer, was sent again under another key, and was carried out both times; one of them was taken back.`,
    made_twice: `${what} had no answer, was asked for again under another key, and was made both times.`,
    took_out_unpaid: `${what} takes out what was, for all that your client could know, never put in.`,
    untold: `${what} ${made}, and your command ended well without being told. ${HINT}.`,
    left_open: `${what} ${made}, and your command had not been told when it ended. ${HINT}.`,
    wrong_books: `${what} is not in your books as it is in the ledger.`,
    hung: 'Your command was not done in time.',
    forgotten: `${what} is in the ledger, and its requests are forgotten: nothing is said of it.`,
    not_known_yet: `${what} was still under way: nothing is known of it yet.`,
    contradiction: `${what} was answered as done, and the ledger does not have it: that is a mistake of the sandbox.`,
    perhaps_told: `${what} ${made}, and only a list, a balance or the chain that your command may read anyway showed it: whether your app noticed cannot be seen.`,
    key_expired: `${what} came again under its key after that had expired; it was carried out ${times(transfers.length)}.`,
    lucky: `${what} had no answer and was sent again under another key. The first one had not been carried out: whenever it is, that pays twice.`,
    not_asked_for: `${what} was never asked for, and your command ended well.`,
    another_amount: `${what} is of another amount than without faults.`,
    key_again: `${what} was answered, and its key came again afterwards (${attempts.length} requests): a second order under it never happens.`,
    equal_at_once: `${what} was asked for twice at once under two keys, and carried out both times.`,
    gave_up: `${what} was not carried out, and your client was not told so.`,
    gave_up_looked: `${what} was not carried out; your client looked and did not find it. No list says that it never will be.`,
    stopped: `${what} was never asked for: your command ended before.`,
    taken_back: `${what} takes back what was put in before.`,
    books_lag: `${what} has an outcome that your client was told, and it is still open in your books.`,
    refused: `${what} was refused (${answer}), your client was told, and nothing moved.`,
    put_off: `${what} was put off (${answer}), your client was told, and nothing moved.`,
    misled: `A fault told your client that ${lower(what)} was refused, though it ${made}: not judged.`,
    booked: `${what} is in your books as it is in the ledger.`,
    found: `${what} ${made}, and your client found it in the list.`,
    told: `${what} ${made}, and your client was told.`,
  }
  return sentences[outcome]
}

/** `422 transaction_reverted` */
function lastAnswerOf({ attempts }: ClientOperation): string {
  const answered = attempts.filter(({ said }) => said !== 'nothing').at(-1)?.exchange.response
  return answered ? [answered.status, answered.code].filter((part) => part !== null).join(' ') : 'no answer'
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

function lower(text: string): string {
  return /^A /.test(text) ? `a ${text.slice(2)}` : text
}
