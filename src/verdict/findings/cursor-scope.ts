import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { cursorsIn, issuesOf, listName, listOf, type SentCursor, sentCursors } from '../evidence/cursors.ts'
import { isHabit, PERHAPS_A_TEST } from '../evidence/doubts.ts'
import { plural } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

export const cursorScope: Finding = {
  id: 'cursor-scope',
  title: 'A cursor stays with the list it came from',
  failureTitle: 'A cursor of one list is sent to another: the service refuses it',
  rule: 'Pagination rules 1, 2 and 5: "pass starting_after with the previous next_cursor"; cursors are signed, and one of another list gives 400 cursor_invalid.',
  impact: 'serious',
  consequence:
    'The list of one end user stays empty because the client still holds the cursor of another, or of another list.',
  situation: 'a list of more than one page, and a request to another list after it',
  exerciseWith: '',
  fix: 'Keep the cursor in a variable of the loop that pages through one list, and begin every list without one.',
  wrongClients: ['cursor-kept-across-lists'],
  judge,
}

function judge({ exchanges }: Evidence): Judgement {
  const sent = sentCursors(exchanges).filter(({ issues }) => issues.length > 0)
  const strayed = sent.filter((one) => !isAtHome(one))
  const [first] = strayed
  if (!first) {
    const begun = begunBesideACursor(exchanges)
    if (!begun || sent.length === 0)
      return notExercised('No client paged through one list and then asked for another one.')
    const explanation = `${plural(sent.length, 'cursor')} went to the list they came from, and other lists began without one.`
    return passed(explanation, [...sent.slice(0, 1).map(({ exchange }) => exchange), begun])
  }

  // Each operation is judged by itself: a client may page through its first list correctly and take the cursor along to the second.
  const operations = new Set(strayed.map(({ exchange }) => exchange.operation))
  const habitual = [...operations].find((operation) => {
    const count = (some: readonly SentCursor[]) =>
      some.filter(({ exchange }) => exchange.operation === operation).length
    return isHabit(count(sent) - count(strayed), count(strayed))
  })
  const habit = strayed.find(({ exchange }) => exchange.operation === habitual)
  const facts = `${plural(strayed.length, 'request')} sent a cursor to ${listName(first.exchange)} that ${listName(first.issues[0]?.by)} had given out.`
  if (!habit) return needsReview(`${facts} ${PERHAPS_A_TEST}`, [first.exchange])
  return failed(
    facts,
    {
      expected: `a cursor of ${listName(habit.exchange)}, or none for its first page`,
      came: `a cursor of ${listName(habit.issues[0]?.by)}`,
    },
    [habit.issues[0]?.by, habit.exchange].flatMap((one) => one ?? []),
  )
}

function isAtHome({ list, issues }: SentCursor): boolean {
  return issues.some((issue) => issue.list === list)
}

/** A first page that was asked for while the same connection held a cursor of another list. */
function begunBesideACursor(exchanges: Evidence['exchanges']): RecordedExchange | undefined {
  const held = new Map<number, string>()
  return exchanges.find((exchange) => {
    const list = listOf(exchange)
    if (list === undefined) return false
    const holding = held.get(exchange.connection)
    if (issuesOf(exchange).length > 0) held.set(exchange.connection, list)
    return holding !== undefined && holding !== list && cursorsIn(exchange).length === 0
  })
}
