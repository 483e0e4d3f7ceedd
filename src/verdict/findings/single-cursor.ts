import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { type SentCursor, sentCursors } from '../evidence/cursors.ts'
import { isHabit, PERHAPS_A_TEST } from '../evidence/doubts.ts'
import { plural } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

export const singleCursor: Finding = {
  id: 'single-cursor',
  title: 'A page is asked for by one cursor',
  failureTitle: 'Both cursors are sent at once: every page from the third on is refused',
  rule: 'Pagination rule 4: "Both cursor parameters together give 400 conflicting_cursors."',
  impact: 'serious',
  consequence:
    'Lists end after two pages: the first answer that has both cursors is the last one that the client gets.',
  situation: 'a page that has one before and one after it, and a request that goes on from there',
  exerciseWith: '',
  fix: 'Send starting_after to go forward or ending_before to go back, never both.',
  wrongClients: ['both-cursors'],
  judge,
}

function judge({ exchanges }: Evidence): Judgement {
  const sent = [...byExchange(sentCursors(exchanges))]
  const both = sent.filter(([, cursors]) => directionsOf(cursors) === 2).map(([exchange]) => exchange)
  const single = sent
    .filter(([, cursors]) => directionsOf(cursors) === 1 && hadBoth(cursors))
    .map(([exchange]) => exchange)
  const [first] = both
  if (!first) {
    const [shown] = single
    if (!shown) return notExercised('No client went on from a page that has one before and one after it.')
    const explanation = `From ${plural(single.length, 'page')} with a next_cursor and a prev_cursor the client went on with one of them.`
    return passed(explanation, [shown])
  }

  const facts = `${plural(both.length, 'request')} sent starting_after and ending_before at once, ${sent.length - both.length} one of them.`
  // A made-up cursor was chosen to be refused.
  const genuine = sent.filter(
    ([, cursors]) => directionsOf(cursors) === 2 && cursors.every(({ issues }) => issues.length > 0),
  )
  // A client that sends every cursor of the last answer still gets the second page right: only that page has both.
  const habitual =
    isHabit(sent.length - both.length, genuine.length) ||
    isHabit(single.length, genuine.filter(([, cursors]) => areOfOneAnswer(cursors)).length)
  if (!habitual) return needsReview(`${facts} ${PERHAPS_A_TEST}`, [first])
  return failed(
    facts,
    { expected: 'starting_after or ending_before', came: 'both' },
    genuine.slice(0, 2).map(([exchange]) => exchange),
  )
}

function byExchange(sent: readonly SentCursor[]): Map<RecordedExchange, SentCursor[]> {
  const grouped = new Map<RecordedExchange, SentCursor[]>()
  for (const one of sent) {
    const others = grouped.get(one.exchange)
    if (others) others.push(one)
    else grouped.set(one.exchange, [one])
  }
  return grouped
}

function directionsOf(cursors: readonly SentCursor[]): number {
  return new Set(cursors.map(({ direction }) => direction)).size
}

/** @returns true if the answer that gave the cursor out had both */
function hadBoth(cursors: readonly SentCursor[]): boolean {
  return cursors.some(({ issues }) =>
    issues.some(
      ({ by }) => /"next_cursor":"/.test(by.response?.body ?? '') && /"prev_cursor":"/.test(by.response?.body ?? ''),
    ),
  )
}

function areOfOneAnswer(cursors: readonly SentCursor[]): boolean {
  const next = cursors.find(({ direction }) => direction === 'next')?.issues ?? []
  const prev = cursors.find(({ direction }) => direction === 'prev')?.issues ?? []
  return next.some(
    (one) => one.direction === 'next' && prev.some(({ by, direction }) => direction === 'prev' && by === one.by),
  )
}
