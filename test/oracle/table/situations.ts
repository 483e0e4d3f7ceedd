import type { FaultRule } from '../../../src/index.ts'

/** Of a deposit or a withdrawal: the first attempt of the first or second of a customer. */
export interface Place {
  operation: 'deposit' | 'withdraw'
  /** Of its first attempt, where nothing goes wrong before. */
  ordinal: number
}

/** Where the workers' orders are sent. */
export const PLACES = {
  'deposit 1': { operation: 'deposit', ordinal: 1 },
  'deposit 2': { operation: 'deposit', ordinal: 2 },
  'withdraw 1': { operation: 'withdraw', ordinal: 1 },
} as const satisfies Record<string, Place>

export type PlaceName = keyof typeof PLACES

/** Something that goes wrong with one order. */
export interface Hazard {
  /** Of what kind it is, for expectations that several share. */
  group?: 'lost' | 'never'
  title: string
  rules(place: Place): FaultRule[]
  confirmationDelay?: string
  /** It strikes several requests in a row, so it is tried at the first order only. */
  long?: true
  /** Only clients that name it are tried. */
  special?: true
}

const at = ({ operation, ordinal }: Place, later = 0) => ({ operation, ordinal: ordinal + later })

const one =
  (rule: FaultRule) =>
  (place: Place): FaultRule[] => [{ ...rule, match: at(place) }]

const often = (rule: FaultRule, times: number) => (place: Place) =>
  Array.from({ length: times }, (_, later) => ({ ...rule, match: at(place, later) }))

const BAD_SIGNATURE: FaultRule = { kind: 'bad_signature', with: { token: 'user' } }

/** What can go wrong, by name. `lost`: the money moves, and no answer says so. `never`: nothing moves, and no answer says so. */
export const HAZARDS = {
  'reset-after-broadcast': {
    group: 'lost',
    title: 'connection reset after broadcast',
    rules: one({ kind: 'drop_connection', phase: 'after_broadcast' }),
  },
  'reset-after-confirmation': {
    group: 'lost',
    title: 'connection reset after confirmation',
    rules: one({ kind: 'drop_connection', phase: 'after_confirmation' }),
  },
  'half-a-body': {
    group: 'lost',
    title: 'half a body',
    rules: one({ kind: 'drop_connection', phase: 'during_response', with: { how: 'truncate' } }),
  },
  '504-after-broadcast': {
    group: 'lost',
    title: '504 after broadcast',
    rules: one({ kind: 'error', phase: 'after_broadcast', with: { status: 504 } }),
  },
  'cut-json': { group: 'lost', title: 'JSON cut short', rules: one({ kind: 'malformed_body', with: { how: 'cut' } }) },
  'proxy-page': {
    group: 'lost',
    title: "a proxy's page",
    rules: one({ kind: 'malformed_body', with: { how: 'html' } }),
  },
  unconfirmed: {
    group: 'lost',
    title: 'connection reset after broadcast, confirmed a second later',
    rules: one({ kind: 'drop_connection', phase: 'after_broadcast' }),
    confirmationDelay: '1s',
  },
  'reset-on-request': {
    group: 'never',
    title: 'connection reset on request',
    rules: one({ kind: 'drop_connection', phase: 'on_request' }),
  },
  '503-on-request': {
    group: 'never',
    title: '503',
    rules: one({ kind: 'error', phase: 'on_request', with: { status: 503, retry_after: 1 } }),
  },
  '429': { title: '429', rules: one({ kind: 'error', phase: 'on_request', with: { status: 429, retry_after: 1 } }) },
  revert: { title: 'reverted', rules: one({ kind: 'revert' }) },
  'aged-user-token': { title: '401, once', rules: one({ kind: 'token_expired', with: { token: 'user' } }) },
  misled: {
    title: '422 that a fault puts in place of the outcome',
    rules: one({ kind: 'error', phase: 'after_broadcast', with: { code: 'insufficient_balance' } }),
  },
  'denied-twice': { title: '401, twice', long: true, rules: often(BAD_SIGNATURE, 2) },
  'reset-then-denied': {
    title: 'connection reset after confirmation, then 401',
    long: true,
    rules: (place) => [
      { kind: 'drop_connection', phase: 'after_confirmation', match: at(place) },
      { ...BAD_SIGNATURE, match: at(place, 1) },
    ],
  },
  outage: {
    title: 'three answers in a row are lost',
    long: true,
    rules: often({ kind: 'drop_connection', phase: 'during_response' }, 3),
  },
  'outage-on-request': {
    title: 'three requests in a row are lost',
    long: true,
    rules: often({ kind: 'drop_connection', phase: 'on_request' }, 3),
  },
  'slow-chain': {
    title: 'nothing, but every transfer is confirmed a second later',
    long: true,
    special: true,
    rules: () => [],
    confirmationDelay: '1s',
  },
  hang: { title: 'no answer, ever', long: true, special: true, rules: one({ kind: 'hang', phase: 'after_broadcast' }) },
} as const satisfies Record<string, Hazard>

export type HazardName = keyof typeof HAZARDS

/** One thing at one place. */
export interface Struck {
  hazard: HazardName
  place: PlaceName
}

/** What goes wrong while a client works: nothing, one thing at one place, or what a scenario brings. */
export type Situation = 'quiet' | Struck | { scenario: string }

export const HAZARD_NAMES = Object.keys(HAZARDS) as HazardName[]
export const PLACE_NAMES = Object.keys(PLACES) as PlaceName[]
