import { type FidelityRow, section } from './row.ts'

/** spec: Pagination rules, Limits */
export const PAGING_ROWS: readonly FidelityRow[] = [
  ...section('Pagination', 'test/specification/pagination.test.ts', [
    [
      '1',
      'Cursors are opaque base64url strings, signed with HMAC, valid for 7 days.',
      'Pagination 1: a cursor is valid for 7 days',
    ],
    [
      '2',
      'Forward: starting_after with next_cursor. Backward: ending_before with prev_cursor.',
      'Pagination 2: next_cursor as starting_after walks forward, prev_cursor as ending_before back',
    ],
    [
      '3',
      'The same cursor gives the same page; rows added after it was issued appear on later pages.',
      'Pagination 3: repeating a request with the same cursor returns the same page',
    ],
    [
      '4',
      'Both cursor parameters together give 400 conflicting_cursors.',
      'Pagination 4: both cursor parameters together give 400 conflicting_cursors',
    ],
    ['5', 'A tampered cursor gives 400 cursor_invalid.', 'Pagination 5: a tampered %s gives 400 cursor_invalid'],
    [
      '6',
      'An expired cursor gives 410 cursor_expired; the first page, fetched again, gives a fresh one.',
      'Pagination 6: an expired %s gives 410 cursor_expired',
    ],
  ]),
  ...section('Limits', 'test/specification/limits.test.ts', [
    ['page size', 'limit is 1 to 100, default 25.', 'Limits: page size 1 to 100 (%s)'],
    ['portfolio name', '1 to 50 characters.', 'Limits: portfolio name 1 to 50 characters'],
    ['portfolio description', 'At most 500 characters.', 'Limits: portfolio description at most 500 characters'],
    ['cursor lifetime', '7 days, on the sandbox clock.', 'Limits: cursor lifetime 7 days'],
    [
      'identity-provider token caching',
      'Until 60 seconds before expiry. It is up to the client; the fault short_lived_token tries it out.',
      'Identity-provider token 3: until its expiry a token may be used again and again',
      { path: 'test/specification/idp-token.test.ts' },
    ],
    [
      'deposit and withdraw duration',
      'Typically 5 to 30 seconds, with a client timeout of at least 60. The default here is 2 s; realistic gives 5 to 30.',
      'Limits: a deposit and a withdrawal take 5 to 30 seconds when confirmations are realistic',
      { kind: 'assumed', setting: 'options.confirmation_delay' },
    ],
    [
      'parallel serving of /v1/ and /v2/',
      'At least 12 months. There is no /v2/ yet: 404 not_found.',
      'Versioning 1: the version is in the path prefix /v1/',
      { kind: 'absent', path: 'test/specification/versioning.test.ts' },
    ],
  ]),
]
