import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { succeeded } from '../evidence/answers.ts'
import { cursorsIn, listName, listOf } from '../evidence/cursors.ts'
import { plural } from '../evidence/words.ts'
import { type Evidence, type Finding, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

export const paginationCompletion: Finding = {
  id: 'pagination-completion',
  title: 'A list that goes on is read beyond its first page',
  failureTitle: 'Only the first page of a list is read: everything beyond it is missing',
  rule: 'Paginated envelope: "has_more: True when more items exist beyond this page." Pagination rule 2: "Forward: pass starting_after with the previous next_cursor."',
  impact: 'minor',
  consequence: 'From the 26th transaction on, each new one pushes the oldest out of what your users see.',
  situation: 'a list of more than one page',
  exerciseWith: '',
  fix: 'Go on with starting_after until has_more is false, wherever the whole list is needed.',
  wrongClients: [],
  judge,
}

function judge({ exchanges, ended }: Evidence): Judgement {
  const unfinished = exchanges.filter((one) => listOf(one) !== undefined && succeeded(one) && hasMore(one))
  const [first] = unfinished
  if (!first) return notExercised('No list was longer than a page.')
  const lists = new Set(unfinished.map(listOf))
  const further = exchanges.find(
    (one) => one.number > first.number && lists.has(listOf(one)) && cursorsIn(one).length > 0,
  )
  if (further) {
    return passed(`A further page was asked for: of ${listName(further)}.`, [first, further])
  }
  const facts = `${plural(unfinished.length, 'page')} said has_more: true, the first of ${listName(first)}, and no further page of any list was asked for`
  if (!ended) return needsReview(`${facts} so far.`, [first])
  return needsReview(
    `${facts}. That is right for a client that needs the newest items only, and wrong where it needs all of them.`,
    [first],
  )
}

/** Cannot be misled by texts in a list: their quotation marks are escaped. */
function hasMore({ response }: RecordedExchange): boolean {
  return response?.body?.includes('"has_more":true') === true
}
