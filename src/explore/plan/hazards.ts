import { ERRORS as ERRORS_OF_SERVICE } from '../../domain/errors.ts'
import type { Operation } from '../../domain/operations.ts'
import { LISTS, OF_END_USER, SERVICE, TRANSFERS } from '../../faults/parameters.ts'
import { PHASES, type Phase, TRANSFER_PHASES } from '../../faults/phase.ts'
import type { Hazard } from '../exploration.ts'
import type { Place } from './positions.ts'

/** Order of trials: first those that can cost money, last those that make a client wait in real time. */
export const URGENCIES = ['money', 'retry', 'rest', 'wait'] as const

/** A hazard, and where it applies. */
export interface PlannedHazard extends Hazard {
  urgency: (typeof URGENCIES)[number]
  /**
   * Milliseconds of real time after which the fault is removed. Business time is frozen, so that no duration of a fault
   * ever ends, and a correct client must still be able to finish.
   */
  holds?: number
  /** Reason why the hazard is tried only if its name is given. */
  onlyNamed?: string
  fits(place: Place): boolean
}

/** A hazard that is a fault. */
export interface PlannedFault extends PlannedHazard {
  rule: NonNullable<Hazard['rule']>
}

/** For a hazard that applies at every place. */
export const anywhere = () => true
/** For a hazard that applies only where money moved. */
export const inTransfer = ({ transferred }: Place) => transferred

/** Long enough for a client to notice, short enough for one that repeats to get through. */
const HELD_MS = 3_000

/** Incidents: answers are lost for longer than a client repeats its request. The run takes as long as the client goes on. */
export const OUTAGES: PlannedFault[] = [
  {
    id: 'outage-lost',
    title: 'outage, answers lost',
    urgency: 'wait',
    rule: { kind: 'outage', phase: 'after_broadcast', with: { how: 'lost' } },
    fits: inTransfer,
  },
  {
    id: 'outage-unavailable',
    title: 'outage, 503',
    urgency: 'wait',
    rule: { kind: 'outage', phase: 'after_broadcast', with: { how: 'unavailable' } },
    fits: inTransfer,
  },
  {
    id: 'outage-before-anything',
    title: 'outage before anything',
    urgency: 'wait',
    rule: { kind: 'outage', phase: 'on_request', with: { how: 'unavailable' } },
    fits: inTransfer,
  },
]

/** Hazards of the chain. Those that affect others as well are removed after a while. */
export const CHAIN: PlannedFault[] = [
  { id: 'reorg', title: 'block replaced', urgency: 'rest', rule: { kind: 'reorg' }, fits: inTransfer },
  {
    id: 'pool-paused',
    title: 'pool paused',
    urgency: 'rest',
    holds: HELD_MS,
    rule: { kind: 'pool_paused', phase: 'before_broadcast' },
    fits: inTransfer,
  },
  {
    id: 'illiquid-pool',
    title: 'pool lent out',
    urgency: 'rest',
    holds: HELD_MS,
    rule: { kind: 'illiquid_pool', phase: 'before_broadcast' },
    fits: (place) => place.position.operation === 'withdraw' && inTransfer(place),
  },
  {
    id: 'chain-down',
    title: 'chain down',
    urgency: 'wait',
    holds: HELD_MS,
    rule: { kind: 'chain_down', phase: 'after_broadcast' },
    fits: inTransfer,
  },
  { id: 'stuck', title: 'stuck', urgency: 'wait', holds: HELD_MS, rule: { kind: 'stuck' }, fits: inTransfer },
]

/** Answers that come late, or never. */
export const WAITS: PlannedFault[] = [
  ...[10, 29, 59].map((seconds): PlannedFault => {
    return {
      id: `answer-after-${seconds}s`,
      title: `answer after ${seconds} s`,
      urgency: 'wait',
      holds: seconds * 1_000,
      onlyNamed: `each run takes ${seconds} s of real time`,
      rule: { kind: 'latency', phase: 'during_response', with: { delay: `${seconds}s` } },
      fits: anywhere,
    }
  }),
  {
    id: 'slow-answer',
    title: 'slow answer',
    urgency: 'wait',
    holds: HELD_MS,
    rule: { kind: 'latency', phase: 'during_response', with: { delay: '3s' } },
    fits: anywhere,
  },
  {
    id: 'hang-on-request',
    title: 'hangs on request',
    urgency: 'wait',
    rule: { kind: 'hang', phase: 'on_request' },
    fits: anywhere,
  },
  {
    id: 'hang-after-broadcast',
    title: 'hangs after broadcast',
    urgency: 'wait',
    rule: { kind: 'hang', phase: 'after_broadcast' },
    fits: inTransfer,
  },
]

/** Operations that carry a key or create something. */
const WRITES: readonly Operation[] = ['create_end_user', 'create_portfolio', ...TRANSFERS]

const among = (operations: readonly Operation[]) => (place: Place) => operations.includes(place.position.operation)
const inWords = (phase: Phase) => phase.replace('_', ' ')
const inName = (phase: Phase) => phase.replace('_', '-')

/** Lost connections, in every way known from production. */
const DROPS: PlannedFault[] = PHASES.flatMap((phase) => {
  const fits = TRANSFER_PHASES.has(phase) ? inTransfer : anywhere
  const urgency = TRANSFER_PHASES.has(phase) ? 'money' : 'retry'
  const drop = (how: 'reset' | 'close' | 'truncate', id: string, title: string): PlannedFault => {
    return { id, title, urgency, fits, rule: { kind: 'drop_connection', phase, with: { how } } }
  }
  return [
    drop('reset', `reset-${inName(phase)}`, `reset ${inWords(phase)}`),
    drop('close', `close-${inName(phase)}`, `close ${inWords(phase)}`),
    ...(phase === 'during_response' ? [drop('truncate', 'half-a-body', 'half a body')] : []),
  ]
})

/** Refusals by the service or a proxy in front of it; in later phases the work goes on behind the client's back. */
const ERRORS: PlannedFault[] = [
  {
    id: 'unavailable',
    title: '503 with Retry-After',
    urgency: 'retry',
    rule: { kind: 'error', phase: 'on_request', with: { status: 503, retry_after: 1 } },
    fits: among(SERVICE),
  },
  {
    id: 'rate-limited',
    title: '429 with Retry-After',
    urgency: 'retry',
    rule: { kind: 'error', phase: 'on_request', with: { status: 429, retry_after: 1 } },
    fits: among(SERVICE),
  },
  {
    id: 'token-endpoint-unavailable',
    title: '503 of the token endpoint',
    urgency: 'retry',
    rule: { kind: 'token_endpoint_error', with: { error: 'temporarily_unavailable' } },
    fits: among(['token']),
  },
  {
    id: 'gateway-timeout-after-broadcast',
    title: '504 after broadcast',
    urgency: 'money',
    rule: { kind: 'error', phase: 'after_broadcast', with: { status: 504 } },
    fits: inTransfer,
  },
  ...(['before_broadcast', 'after_broadcast'] as const).map((phase): PlannedFault => {
    return {
      id: `chain-unavailable-${inName(phase)}`,
      title: `chain_unavailable ${inWords(phase)}`,
      urgency: 'money',
      rule: { kind: 'error', phase, with: { code: 'chain_unavailable' } },
      fits: inTransfer,
    }
  }),
  ...(['internal_error', 'request_timeout', 'idempotency_key_in_progress'] as const).map((code): PlannedFault => {
    const { status } = ERRORS_OF_SERVICE[code]
    return {
      id: `${code.replaceAll('_', '-')}-after-broadcast`,
      title: `${status} ${code === 'idempotency_key_in_progress' ? 'in progress' : 'after broadcast'}`,
      urgency: 'money',
      rule: { kind: 'error', phase: 'after_broadcast', with: { code } },
      fits: inTransfer,
    }
  }),
  ...([500, 502] as const).map((status): PlannedFault => {
    return {
      id: status === 500 ? 'internal-error' : 'bad-gateway',
      title: String(status),
      urgency: 'retry',
      rule: { kind: 'error', phase: 'on_request', with: { status } },
      fits: among(WRITES),
    }
  }),
  { id: 'revert', title: 'reverted', urgency: 'money', rule: { kind: 'revert' }, fits: inTransfer },
]

const ANSWERS: PlannedFault[] = [
  {
    id: 'proxy-page',
    title: "a proxy's page",
    urgency: 'retry',
    rule: { kind: 'malformed_body', with: { how: 'html' } },
    fits: anywhere,
  },
  {
    id: 'cut-json',
    title: 'JSON cut short',
    urgency: 'retry',
    rule: { kind: 'malformed_body', with: { how: 'cut' } },
    fits: anywhere,
  },
  {
    id: 'unknown-fields',
    title: 'unknown fields',
    urgency: 'rest',
    rule: { kind: 'unknown_fields' },
    fits: anywhere,
  },
  {
    id: 'unknown-transaction-type',
    title: 'unknown transaction type',
    urgency: 'rest',
    rule: { kind: 'unknown_values', with: { what: 'transaction_type' } },
    fits: among(['list_transactions']),
  },
  {
    id: 'unknown-protocol',
    title: 'unknown protocol',
    urgency: 'rest',
    rule: { kind: 'unknown_values', with: { what: 'protocol' } },
    fits: among(['list_pools', 'create_portfolio', 'list_portfolios', ...TRANSFERS]),
  },
  {
    id: 'expired-cursor',
    title: 'expired cursor',
    urgency: 'rest',
    rule: { kind: 'expired_cursor' },
    fits: (place) => place.has_cursor && among(LISTS)(place),
  },
  {
    id: 'invalid-cursor',
    title: 'cursor refused',
    urgency: 'rest',
    rule: { kind: 'invalid_cursor' },
    fits: (place) => place.has_cursor && among(LISTS)(place),
  },
]

const TOKENS: PlannedFault[] = [
  {
    id: 'aged-idp-token',
    title: '401 aged access token',
    urgency: 'rest',
    rule: { kind: 'token_expired', with: { token: 'idp' } },
    fits: among(SERVICE),
  },
  {
    id: 'aged-user-token',
    title: '401 aged user token',
    urgency: 'rest',
    rule: { kind: 'token_expired', with: { token: 'user' } },
    fits: among(OF_END_USER),
  },
  {
    id: 'issued-with-unknown-key',
    title: 'token of an unknown key',
    urgency: 'rest',
    rule: { kind: 'bad_signature', with: { token: 'idp' } },
    fits: among(['token']),
  },
  {
    id: 'issued-for-another-audience',
    title: 'token for another audience',
    urgency: 'rest',
    rule: { kind: 'token_wrong_audience', with: { token: 'idp' } },
    fits: among(['token']),
  },
  {
    id: 'issued-for-a-second',
    title: 'token for one second',
    urgency: 'rest',
    rule: { kind: 'short_lived_token', with: { expires_in: 1 } },
    fits: among(['token']),
  },
  {
    id: 'unknown-partner',
    title: '401 unknown partner',
    urgency: 'rest',
    rule: { kind: 'unknown_partner' },
    fits: among(TRANSFERS),
  },
  {
    id: 'insufficient-role',
    title: '403 insufficient role',
    urgency: 'rest',
    rule: { kind: 'insufficient_role' },
    fits: among(TRANSFERS),
  },
]

/** Every hazard, in the order in which a matrix shows it. A new hazard is a line here. */
export const HAZARDS: readonly PlannedFault[] = [
  ...DROPS,
  ...OUTAGES,
  ...ERRORS,
  ...ANSWERS,
  ...TOKENS,
  ...CHAIN,
  ...WAITS,
]
