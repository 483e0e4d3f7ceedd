import { assumed, type FidelityRow, LIVE, testsIn } from './row.ts'

const general = testsIn('test/specification/assumptions.test.ts')
const beside = testsIn('test/specification/behaviours-requests.test.ts')

/** Open points of the specification about lists and their pages. */
export const LIST_ASSUMPTIONS: readonly FidelityRow[] = [
  assumed(
    'list-portfolio-fields',
    "list items' other fields",
    'those of the create response (with token nested) and apy_snapshot (a number), total_gross_yield_earned, total_fees_paid, last_synced_at',
    general('Assumption list-portfolio-fields: those of the create response, and four more'),
    LIVE,
  ),
  assumed(
    'list-order',
    'order of pools and portfolios',
    'pools by pool_id; portfolios oldest first (created_at, then id)',
    general('Assumption list-order: pools by pool_id, portfolios oldest first'),
  ),
  assumed(
    'has-more',
    'has_more when paging backward',
    'true exactly when next_cursor is not null',
    general('Assumption has-more: true exactly when next_cursor is not null, backward too'),
  ),
  assumed(
    'limit-invalid',
    'limit outside 1 to 100, not a whole number',
    '400 validation_error, param limit',
    general('Assumption limit-invalid: 400 validation_error, param limit'),
  ),
  assumed(
    'cursor-scope',
    'a genuine cursor on another list, tenant or end user',
    '400 cursor_invalid',
    general('Assumption cursor-scope: a genuine cursor of another list, tenant or end user is 400 cursor_invalid'),
  ),
]

/** Behaviours of pages that the specification does not mention. */
export const LIST_BEHAVIOURS: readonly FidelityRow[] = [
  assumed(
    'empty-cursor',
    'starting_after= and ending_before= without a value',
    '400 cursor_invalid',
    beside('Behaviour empty-cursor: an empty cursor is 400 cursor_invalid'),
  ),
  assumed(
    'cursor-use',
    'cursors used in other ways',
    'a next_cursor works as ending_before; another limit may go with a cursor',
    beside('Behaviour cursor-use: next_cursor works as ending_before, and another limit may go with a cursor'),
  ),
  assumed(
    'first-page',
    'which page is the first',
    'prev_cursor is null on what is the first page now: once rows come before it, it is one no more',
    beside('Behaviour first-page: prev_cursor is null on what is the first page now'),
  ),
  assumed(
    'cursor-after-reset',
    'tokens and cursors from before a reset',
    'stay good: the keys that sign them are the same',
    beside('Behaviour after-a-reset: tokens and cursors from before it stay good'),
  ),
]
