import type { Operation } from '../../domain/operations.ts'
import { LISTS, OF_END_USER, SERVICE } from '../../faults/operation-groups.ts'
import { PHASES, type Phase, TRANSFER_PHASES } from '../../faults/phase.ts'
import type { Hazard } from '../exploration.ts'
import type { Place } from './positions.ts'

/** When its turn comes: what can cost money first, what makes a client wait in real time last. */
export const URGENCIES = ['money', 'retry', 'rest', 'wait'] as const

/** A hazard, and where it makes sense. */
export interface PlannedHazard extends Hazard {
  urgency: (typeof URGENCIES)[number]
  /** Whether it holds up the answer for a time, and lets it go: business time stands still, so that it has to be told. */
  holds?: boolean
  fits(place: Place): boolean
}

const anywhere = () => true
const inTransfer = ({ transferred }: Place) => transferred
const among = (operations: readonly Operation[]) => (place: Place) => operations.includes(place.position.operation)
const inWords = (phase: Phase) => phase.replace('_', ' ')
const inName = (phase: Phase) => phase.replace('_', '-')

/** Every way in which production loses a connection. */
const DROPS: PlannedHazard[] = PHASES.flatMap((phase) => {
  const fits = TRANSFER_PHASES.has(phase) ? inTransfer : anywhere
  const urgency = TRANSFER_PHASES.has(phase) ? 'money' : 'retry'
  const drop = (how: 'reset' | 'close' | 'truncate', id: string, title: string): PlannedHazard => {
    return { id, title, urgency, fits, rule: { kind: 'drop_connection', phase, with: { how } } }
  }
  return [
    drop('reset', `reset-${inName(phase)}`, `reset ${inWords(phase)}`),
    drop('close', `close-${inName(phase)}`, `close ${inWords(phase)}`),
    ...(phase === 'during_response' ? [drop('truncate', 'half-a-body', 'half a body')] : []),
  ]
})

/** The service, or a proxy in front of it, refuses; afterwards the work goes on behind the client's back. */
const ERRORS: PlannedHazard[] = [
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
  ...(['before_broadcast', 'after_broadcast'] as const).map((phase): PlannedHazard => {
    return {
      id: `chain-unavailable-${inName(phase)}`,
      title: `chain_unavailable ${inWords(phase)}`,
      urgency: 'money',
      rule: { kind: 'error', phase, with: { code: 'chain_unavailable' } },
      fits: inTransfer,
    }
  }),
  { id: 'revert', title: 'reverted', urgency: 'money', rule: { kind: 'revert' }, fits: inTransfer },
]

const ANSWERS: PlannedHazard[] = [
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
    id: 'expired-cursor',
    title: 'expired cursor',
    urgency: 'rest',
    rule: { kind: 'expired_cursor' },
    fits: (place) => place.has_cursor && among(LISTS)(place),
  },
]

const TOKENS: PlannedHazard[] = [
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
]

const WAITS: PlannedHazard[] = [
  {
    id: 'slow-answer',
    title: 'slow answer',
    urgency: 'wait',
    holds: true,
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

/** Everything that production could show, in the order in which a matrix shows it. A new hazard is a line here. */
export const HAZARDS: readonly PlannedHazard[] = [...DROPS, ...ERRORS, ...ANSWERS, ...TOKENS, ...WAITS]
