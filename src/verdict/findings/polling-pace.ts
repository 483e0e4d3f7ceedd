import { grouped } from '../../support/maps.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { beganAt, endedAt } from '../evidence/answers.ts'
import { addressOf } from '../evidence/requests.ts'
import { type UncertainTransfer, uncertainTransfersOf } from '../evidence/uncertain-transfers.ts'
import { plural, spell } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

/** An acceptable pause in milliseconds. A transfer takes 5 to 30 seconds. */
const PAUSE_MS = 500
/** Minimum length of a row that is a rush, if a quarter of its pauses are below NO_PAUSE_MS (a busy machine prolongs the others). */
const IN_A_ROW = 10
const NO_PAUSE_MS = 100

export const pollingPace: Finding = {
  id: 'polling-pace',
  title: 'The list of transactions is polled with pauses',
  failureTitle:
    'The list of transactions is polled without a pause: a rate limit will refuse it before the outcome is known',
  rule: 'Endpoint 5, rule 2: "The client polls the transactions list until the transaction appears." Limits: a transfer takes 5 to 30 seconds typically.',
  impact: 'minor',
  consequence:
    'Hundreds of requests per dropped transfer load the service when it is slow already. Partners that poll so fast are limited first.',
  situation: 'a dropped transfer that takes some seconds to appear in the list',
  exerciseWith: "--confirmation-delay 2s --fault 'drop_connection; phase=after_broadcast; operation=deposit'",
  fix: 'Wait a second or two between two requests for the list.',
  wrongClients: ['polls-without-pause'],
  judge,
}

function judge(evidence: Evidence): Judgement {
  const [rush] = [...grouped(evidence.exchanges, ({ connection }) => connection).values()].flatMap(rushesIn)
  if (rush) return contradicted(rush)
  const polls = uncertainTransfersOf(evidence)
    .map(pollsOf)
    .filter((looks) => looks.length > 1)
  const [slowest] = polls.toSorted((a, b) => shortestPause(b) - shortestPause(a))
  if (!slowest)
    return notExercised('No transfer without an answer was looked for in the list of transactions more than once.')
  const [quickest] = polls.filter((looks) => shortestPause(looks) < PAUSE_MS && areOfOneConnection(looks))
  if (quickest) {
    const explanation = `The list of transactions was asked for ${plural(quickest.length, 'time')} with pauses down to ${spell(shortestPause(quickest))}. That is quick, but too short to be called a habit.`
    return needsReview(explanation, quickest.slice(0, 2))
  }
  if (shortestPause(slowest) < PAUSE_MS) {
    return notExercised(
      'The list of transactions was asked for on several connections at once: their pace cannot be known.',
    )
  }
  const explanation = `The list of transactions was asked for ${plural(slowest.length, 'time')} with ${spell(shortestPause(slowest))} or more in between.`
  return passed(explanation, slowest.slice(0, 2))
}

function contradicted(rush: readonly RecordedExchange[]): Judgement {
  const pause = shortestPause(rush)
  const explanation = `The list of ${rush[0]?.external_id}'s transactions was asked for ${plural(rush.length, 'time')} in a row on one connection, with pauses down to ${spell(pause)}, and was the same each time.`
  const shown = [...rush.slice(0, 2), ...rush.slice(-1)]
  return failed(explanation, { expected: `${spell(PAUSE_MS)} or more between two`, came: spell(pause) }, shown)
}

/** Rows of requests of one connection for the same first page, directly one after the other, without a pause. */
function rushesIn(connection: readonly RecordedExchange[]): RecordedExchange[][] {
  const rows: RecordedExchange[][] = []
  let last: RecordedExchange | undefined
  for (const exchange of connection) {
    const row = rows.at(-1)
    if (isPoll(exchange)) {
      if (row && last && isNext(last, exchange)) row.push(exchange)
      else rows.push([exchange])
    }
    last = exchange
  }
  return rows.filter(isRush)
}

function isNext(last: RecordedExchange, exchange: RecordedExchange): boolean {
  return isSame(last, exchange) && beganAt(exchange) - endedAt(last) < PAUSE_MS
}

function isRush(row: readonly RecordedExchange[]): boolean {
  const without = pausesIn(row).filter((pause) => pause < NO_PAUSE_MS).length
  return row.length >= IN_A_ROW && without * 4 >= row.length
}

function isPoll({ operation, end, request, response }: RecordedExchange): boolean {
  if (operation !== 'list_transactions' || end !== 'answered' || response?.status !== 200) return false
  return !request.query.some(([name]) => name === 'starting_after' || name === 'ending_before')
}

/** @returns true if both answers are equal except for their cursors, which are new each time */
function isSame(one: RecordedExchange, other: RecordedExchange): boolean {
  return addressOf(one) === addressOf(other) && withoutCursors(one) === withoutCursors(other)
}

function withoutCursors({ response }: RecordedExchange): string | undefined {
  return response?.body?.replaceAll(/"(next|prev)_cursor":"[^"]*"/g, '')
}

/** The lists that were asked for while the outcome was unknown. */
function pollsOf({ looks, found }: UncertainTransfer): RecordedExchange[] {
  const until = found ? looks.indexOf(found) + 1 : looks.length
  return looks.slice(0, until).map(({ exchange }) => exchange)
}

/** @returns true if one worker polled: several connections may be several workers, each with its own pace */
function areOfOneConnection(polls: readonly RecordedExchange[]): boolean {
  return polls.every(({ connection }) => connection === polls[0]?.connection)
}

function shortestPause(polls: readonly RecordedExchange[]): number {
  return pausesIn(polls).reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY)
}

function pausesIn(polls: readonly RecordedExchange[]): number[] {
  return polls.slice(1).map((poll, place) => beganAt(poll) - endedAt(polls[place] ?? poll))
}
