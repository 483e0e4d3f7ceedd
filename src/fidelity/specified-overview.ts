import { type FidelityRow, section } from './row.ts'

const OVERVIEW = 'test/specification/overview.test.ts'
const VERSIONING = 'test/specification/versioning.test.ts'
const FAULTS = 'test/faults/answers.test.ts'

/** spec: What the service does, States and transitions, Events, Versioning */
export const OVERVIEW_ROWS: readonly FidelityRow[] = [
  ...section('What the service does', OVERVIEW, [
    [
      '1',
      'A partner lists pools, creates a portfolio for an end user on one of them, deposits into it and withdraws from it.',
      'What the service does 1: lists pools, creates a portfolio on one, moves funds in and out',
    ],
    [
      '2',
      'Deposits and withdrawals are synchronous: the connection stays open until the transaction is confirmed; the response has its hash.',
      'What the service does 2: the connection stays open until the transaction is confirmed; the answer has its hash',
    ],
    [
      '3',
      "Two credentials: the identity provider's access token in Authorization, and the JWT the partner mints in X-User-Token.",
      'What the service does 3: two credentials, Authorization and X-User-Token',
    ],
    [
      '4',
      'All paths are under /v1/, all bodies are JSON.',
      'What the service does 4: all paths are under /v1/, all bodies are JSON',
    ],
    [
      '5',
      'Collections are paged by cursors.',
      'Pagination 2: next_cursor as starting_after walks forward, prev_cursor as ending_before back',
      { path: 'test/specification/pagination.test.ts' },
    ],
    ['6', 'There are no webhooks or other pushed events.', 'What the service does 6: there are no webhooks'],
  ]),
  ...section('States and transitions', OVERVIEW, [
    [
      '1',
      'A new portfolio has zero deposited funds and is funded by the deposit operation.',
      'States and transitions 1: a new portfolio has zero deposited funds and is funded by a deposit',
    ],
    ['2', 'No record has a state or a status.', 'States and transitions 2: no record has a state or status'],
  ]),
  ...section('Events', OVERVIEW, [
    [
      '1',
      'No events are sent; there is no callback and no signature scheme.',
      'Events 1: no operation declares a callback, and none takes a callback address',
    ],
    [
      '2',
      'A client that loses the connection polls the transactions list.',
      'Events 2: a client that loses the connection finds the outcome in the transactions list',
    ],
  ]),
  ...section('Versioning', VERSIONING, [
    [
      '1',
      'The version is in the path prefix /v1/. There is no version request header.',
      'Versioning 1: there is no version request header',
    ],
    [
      '2',
      'Every response has a version header, 1.0.0, and a request identifier of its own. Both names hold the brand.',
      'Versioning 2: every response carries X-Service-Api-Version 1.0.0 and X-Service-Request-Id',
    ],
    [
      '3',
      'Within v1, optional fields, endpoints, error codes and query parameters may be added without notice; nothing is removed or renamed.',
      'adds fields to every object of a good answer and changes none',
      { path: FAULTS },
    ],
    [
      '4',
      'Breaking changes come with a /v2/ prefix. There is none yet: 404 not_found.',
      'Versioning 1: the version is in the path prefix /v1/',
      { kind: 'absent' },
    ],
    [
      '5',
      '/v1/ and /v2/ are served in parallel for at least 12 months. There is no /v2/ yet: 404 not_found.',
      'Versioning 1: the version is in the path prefix /v1/',
      { kind: 'absent' },
    ],
    [
      '6',
      'A deprecation is to be announced by headers (RFC 8594). None is: no response has Sunset or Deprecation, unless the fault deprecation adds them.',
      'announces in the forms of RFC 9745 and RFC 8594',
      { kind: 'absent', path: FAULTS },
    ],
    [
      '7',
      'Clients tolerate unknown response fields. It is up to the client; the fault unknown_fields tries it out.',
      'adds fields to every object of a good answer and changes none',
      { path: FAULTS },
    ],
  ]),
]
