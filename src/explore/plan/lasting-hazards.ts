import { anywhere, inTransfer, type PlannedHazard } from './planned-hazard.ts'

/** Long enough for a client to notice, short enough for one that repeats to get through. */
const HELD_MS = 3_000

/** An incident: answers are lost for longer than a client repeats its request. It takes the time that the client goes on. */
export const OUTAGES: PlannedHazard[] = [
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

/** What becomes of the chain. Those that strike others as well are taken away after a while. */
export const CHAIN: PlannedHazard[] = [
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
export const WAITS: PlannedHazard[] = [
  ...[10, 29, 59].map((seconds): PlannedHazard => {
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
