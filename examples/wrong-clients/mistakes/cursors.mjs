const RESTART = 'page = await this.#page<T>(path, user, limit, null)'
const STEP = 'cursor = page.next_cursor'
const QUERY = '{ starting_after: cursor }'

/** Mistakes about pages. */
export const CURSORS = [
  {
    id: 'expired-cursor-is-the-end',
    finding: 'expired-cursor-restart',
    what: 'Takes an expired cursor for the end of the list.',
    exercise: { scenario: 'expired-cursor' },
    edits: [{ file: 'client.ts', find: RESTART, replace: 'return' }],
  },
  {
    id: 'expired-cursor-repeated',
    finding: 'expired-cursor-restart',
    what: 'Repeats a request with the cursor that has expired.',
    exercise: { scenario: 'expired-cursor' },
    edits: [
      { file: 'client.ts', find: RESTART, replace: 'page = await this.#page<T>(path, user, limit, `${cursor}`)' },
    ],
  },
  {
    id: 'cursor-rebuilt',
    finding: 'cursor-integrity',
    what: 'Makes a cursor of the id of the last item.',
    exercise: {},
    edits: [
      {
        file: 'client.ts',
        find: STEP,
        replace: 'cursor = page.next_cursor && idOf(page.data[page.data.length - 1] as T)',
      },
    ],
  },
  {
    id: 'cursor-kept-across-lists',
    finding: 'cursor-scope',
    what: 'Begins a list with the last cursor of another one.',
    exercise: {},
    edits: [
      { file: 'client.ts', find: 'let cursor: string | null = null', replace: 'let cursor: string | null = kept' },
      { file: 'client.ts', find: STEP, replace: `${STEP}\n      kept = cursor ?? kept` },
      { file: 'client.ts', find: 'const pathOf =', replace: 'let kept: string | null = null\n\nconst pathOf =' },
    ],
  },
  {
    id: 'cursor-the-wrong-way',
    finding: 'cursor-direction',
    what: 'Sends next_cursor as ending_before.',
    exercise: {},
    edits: [
      { file: 'client.ts', find: QUERY, replace: '{ ending_before: cursor }' },
      // It would go round in circles.
      { file: 'client.ts', find: STEP, replace: 'cursor = ++restarts > 4 ? null : page.next_cursor' },
    ],
  },
  {
    id: 'both-cursors',
    finding: 'single-cursor',
    what: 'Sends a cursor in both directions at once.',
    exercise: {},
    edits: [{ file: 'client.ts', find: QUERY, replace: '{ starting_after: cursor, ending_before: cursor }' }],
  },
]
