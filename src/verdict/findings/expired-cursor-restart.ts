import { grouped } from '../../support/maps.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { beganAt, endedAt, refusedWith } from '../evidence/answers.ts'
import { cursorsIn, listName, listOf } from '../evidence/cursors.ts'
import { plural } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

export const expiredCursorRestart: Finding = {
  id: 'expired-cursor-restart',
  title: 'An expired cursor leads back to the first page',
  failureTitle: 'After an expired cursor the first page is not fetched: the rest of the list is missing',
  rule: 'Pagination rule 6: "An expired cursor gives 410 cursor_expired. The client re-fetches the first page for a fresh cursor."',
  impact: 'serious',
  consequence:
    'Transactions and portfolios are missing from what your users see, or the client repeats a request that can never succeed.',
  situation: 'a page asked for by a cursor that has expired',
  exerciseWith: '--scenario expired-cursor',
  fix: 'On 410 cursor_expired, throw the cursor away, fetch the list again without one, and skip what you have already.',
  wrongClients: ['expired-cursor-is-the-end', 'expired-cursor-repeated'],
  judge,
}

/** Maximum number of refusals that are examined: a client that repeats for ever has thousands. */
const LOOKED_AT = 50

/** The client's reaction to a refusal. */
interface Sequel {
  refused: RecordedExchange
  did: 'restarted' | 'repeated' | 'went_on' | 'nothing'
  by?: RecordedExchange
}

function judge({ exchanges, ended }: Evidence): Judgement {
  const lists = grouped(exchanges.map(pageRequestOf), ({ exchange }) => listOf(exchange))
  const sequels = [...lists.values()]
    .flat()
    .filter(({ exchange, cursor }) => refusedWith(exchange, 'cursor_expired') && cursor !== undefined)
    .slice(0, LOOKED_AT)
    .map((refused) => sequelOf(refused, lists.get(listOf(refused.exchange) ?? '') ?? []))
  const [first] = sequels
  if (!first) return notExercised('No cursor was refused as expired.')

  const restarted = sequels.filter(({ did }) => did === 'restarted')
  const unfollowed = sequels.filter(({ did }) => did === 'nothing')
  const wrong = sequels.find(({ did }) => did === 'repeated' || did === 'went_on')
  if (wrong?.by && wrong.did === 'repeated') {
    return failedAs(wrong, 'The cursor that had just been refused as expired was sent again', 'the same cursor')
  }
  if (wrong && restarted.length === 0) {
    return failedAs(
      wrong,
      'After a cursor was refused as expired, the list was asked for by another old one',
      'another cursor',
    )
  }
  const [lost] = unfollowed
  if (lost && !ended)
    return needsReview('A cursor was refused as expired; nothing of that list followed so far.', [lost.refused])
  if (lost && restarted.length === 0) {
    return failedAs(
      lost,
      'A cursor was refused as expired, and its list was not asked for again: the refusal was taken for the end',
      'nothing',
    )
  }
  if (lost || wrong) {
    const explanation = `${plural(restarted.length, 'time')} an expired cursor led back to the first page, and ${plural(sequels.length - restarted.length, 'time')} it did not. That may be a test of the refusal, or another client.`
    return needsReview(explanation, [(lost ?? wrong ?? first).refused])
  }
  const explanation = `${plural(restarted.length, 'time')} a cursor was refused as expired, and the next request of that list was for its first page.`
  return passed(
    explanation,
    [first.refused, first.by].flatMap((one) => one ?? []),
  )
}

function failedAs({ refused, by }: Sequel, explanation: string, came: string): Judgement {
  return failed(
    `${explanation} (${listName(refused)}).`,
    { expected: 'the first page of the list, asked for without a cursor', came },
    [refused, by].flatMap((one) => one ?? []),
  )
}

/** A request for a page; its cursor is undefined for the first page. */
interface PageRequest {
  exchange: RecordedExchange
  cursor: string | undefined
  began: number
}

function pageRequestOf(exchange: RecordedExchange): PageRequest {
  return { exchange, cursor: cursorsIn(exchange)[0]?.cursor, began: beganAt(exchange) }
}

function sequelOf({ exchange: refused, cursor: expired }: PageRequest, ofList: readonly PageRequest[]): Sequel {
  const over = endedAt(refused)
  const later = ofList.filter(({ exchange, began }) => exchange.number > refused.number && began >= over)
  const at = later.findIndex(({ cursor }) => cursor === undefined)
  const restart = later[at]?.exchange
  const before = at < 0 ? later : later.slice(0, at)
  // On another connection it may be another worker in the middle of the same list.
  const isOwn = ({ connection }: RecordedExchange) => connection === refused.connection
  const again = before.find(({ exchange, cursor }) => cursor === expired && (restart === undefined || isOwn(exchange)))
  if (again) return { refused, did: 'repeated', by: again.exchange }
  if (restart) return { refused, did: 'restarted', by: restart }
  const other = before.find(({ exchange }) => isOwn(exchange))
  return other ? { refused, did: 'went_on', by: other.exchange } : { refused, did: 'nothing' }
}
