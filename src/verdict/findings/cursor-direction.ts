import { cursorsIn, type SentCursor, sentCursors } from '../evidence/cursors.ts'
import { isHabit } from '../evidence/doubts.ts'
import { plural } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

const NAMES = {
  next: { cursor: 'next_cursor', parameter: 'starting_after' },
  prev: { cursor: 'prev_cursor', parameter: 'ending_before' },
} as const

export const cursorDirection: Finding = {
  id: 'cursor-direction',
  title: 'next_cursor goes into starting_after, prev_cursor into ending_before',
  failureTitle: 'Cursors are sent in the wrong direction: pages are read twice, and the rest never',
  rule: 'Pagination rule 2: "Forward: pass starting_after with the previous next_cursor. Backward: pass ending_before with prev_cursor."',
  impact: 'serious',
  consequence: 'The client reads what it has read already, perhaps for ever, and never gets to the rest of the list.',
  situation: 'a list of more than one page, and a request for its second page',
  exerciseWith: '',
  fix: 'Send next_cursor as starting_after to go on, and prev_cursor as ending_before to go back.',
  wrongClients: ['cursor-the-wrong-way'],
  judge,
}

function judge({ exchanges }: Evidence): Judgement {
  // cursor-integrity and cursor-scope judge cursors that were not given out on this list, and single-cursor two at once.
  const sent = sentCursors(exchanges).filter(
    ({ exchange, list, issues }) => issues.some((issue) => issue.list === list) && cursorsIn(exchange).length === 1,
  )
  const wrong = sent.filter((one) => !isRightWay(one))
  const right = sent.length - wrong.length
  const [first] = wrong
  if (!first) {
    if (right === 0) return notExercised('No page was asked for by a cursor that an answer had given out.')
    const explanation = `${plural(right, 'cursor')} went in the direction of its answer: next_cursor forward, prev_cursor backward.`
    return passed(
      explanation,
      sent.slice(0, 1).map(({ exchange }) => exchange),
    )
  }

  const sentAs = NAMES[first.direction].parameter
  const issue = first.issues.find(({ list }) => list === first.list)
  const { cursor, parameter } = NAMES[first.direction === 'next' ? 'prev' : 'next']
  const facts = `${plural(wrong.length, 'request')} sent a ${cursor} as ${sentAs}; ${right} went the right way.`
  const shown = [issue?.by, first.exchange].flatMap((one) => one ?? [])
  if (!isHabit(right, wrong.length)) return needsReview(`${facts} One alone may be a test.`, shown)
  return failed(facts, { expected: `${cursor} as ${parameter}`, came: `${cursor} as ${sentAs}` }, shown)
}

function isRightWay({ list, direction, issues }: SentCursor): boolean {
  return issues.some((issue) => issue.list === list && issue.direction === direction)
}
