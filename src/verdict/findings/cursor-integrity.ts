import { refusedWith } from '../evidence/answers.ts'
import { issuesOf, listOf, sentCursors } from '../evidence/cursors.ts'
import { isHabit, PERHAPS_A_TEST } from '../evidence/doubts.ts'
import { plural, quote } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

export const cursorIntegrity: Finding = {
  id: 'cursor-integrity',
  title: 'Cursors are passed on as they came',
  failureTitle: 'Cursors are changed or built by the client: every page after the first is refused',
  rule: 'Pagination rules 1 and 5: "Cursors are opaque base64url strings, HMAC-signed … Clients never parse or build them." "A tampered cursor gives 400 cursor_invalid."',
  impact: 'serious',
  consequence:
    'The client sees the first page of every list and nothing else: portfolios and transactions beyond it do not exist for your users.',
  situation: 'a list of more than one page, and a request for its second page',
  exerciseWith: '',
  fix: 'Keep next_cursor and prev_cursor as texts and send them back unchanged, URL-encoded and nothing else. Do not decode, trim or cut them.',
  wrongClients: ['cursor-rebuilt'],
  judge,
}

function judge({ exchanges, forgotten }: Evidence): Judgement {
  const sent = sentCursors(exchanges)
  const right = sent.filter(({ issues }) => issues.length > 0)
  // A cursor that the service accepts is genuine, wherever it came from: it is signed.
  const odd = sent.filter(({ exchange, issues }) => issues.length === 0 && refusedWith(exchange, 'cursor_invalid'))
  const incomplete =
    Object.values(forgotten).some((count) => count > 0) ||
    exchanges.some((one) => one.response?.body_cut && listOf(one) !== undefined)
  const [first] = odd
  if (!first) {
    if (right.length === 0) return notExercised('No page was asked for by a cursor that an answer had given out.')
    const explanation = `${plural(right.length, 'request')} for a further page sent the cursor as an answer had given it out.`
    return passed(
      explanation,
      [right[0]?.exchange].flatMap((one) => one ?? []),
    )
  }

  const shown = odd.slice(0, 2).map(({ exchange }) => exchange)
  const facts = `${plural(odd.length, 'request')} sent a cursor that no answer had given out, such as ${quote(first.cursor)}; ${right.length} sent one that an answer had.`
  if (incomplete) return needsReview(`${facts} Not all answers are on record any more, so it may be older.`, shown)
  // A client that never got a cursor cannot change one: a made-up cursor is more likely a test.
  const offered = offeredBefore(exchanges)
  const changed = odd.filter(({ list, exchange }) => (offered.get(list) ?? Number.POSITIVE_INFINITY) < exchange.number)
  if (!isHabit(right.length, changed.length)) return needsReview(`${facts} ${PERHAPS_A_TEST}`, shown)
  return failed(
    facts,
    { expected: 'the next_cursor or prev_cursor of an earlier answer, unchanged', came: quote(first.cursor) },
    shown,
  )
}

/** The number of the exchange that first gave out a cursor, by list. */
function offeredBefore(exchanges: Evidence['exchanges']): Map<string, number> {
  const offered = new Map<string, number>()
  for (const exchange of exchanges) {
    const list = listOf(exchange)
    if (list !== undefined && !offered.has(list) && issuesOf(exchange).length > 0) offered.set(list, exchange.number)
  }
  return offered
}
