import type { ServiceSettings } from '../domain/service-settings.ts'
import type { Facts } from '../oracle/facts.ts'
import type { FindingId } from './finding-ids.ts'

/**
 * Counts of removals by requests to the control interface since the namespace was made; a reset does not set them back. Only requests
 * over the network count, as of a command that does it to its own sandbox, not those of this process itself.
 */
export interface TakenAway {
  /** Requests to remove faults or to stop a scenario, with or without effect. */
  clearings: number
  /** Resets. */
  resets: number
  /** Rules that these requests removed while they could still strike. */
  faults: number
}

/** Input of the findings. */
export interface Evidence extends Facts {
  taken_away: TakenAway
  /** Real time of the judgement, milliseconds since the Unix epoch. */
  now: number
  settings: ServiceSettings
}

/** Severity for a partner in production. */
export type Impact = 'critical' | 'serious' | 'minor'

/**
 * `passed`: the situation arose, and the client did right. `failed`: it did wrong, and the exchanges prove it. `needs_review`: traffic
 * alone cannot show it. `not_exercised`: the situation never arose. `errored`: the judge itself failed.
 */
export type Outcome = 'passed' | 'failed' | 'needs_review' | 'not_exercised' | 'errored'

/** The result of a judge. */
export interface Judgement {
  outcome: Exclude<Outcome, 'errored'>
  /** Sentences for people: event, actor, number of times. With `needs_review`, the reason why nobody can know. */
  explanation: string
  /** With `failed`: the request of a correct client, and the one that came. */
  expected?: string
  came?: string
  /** The exchanges that show it, oldest first, as few as possible. */
  request_ids: string[]
}

/** A rule by which a client is judged, from its requests and answers. */
export interface Finding {
  /** A noun phrase; the name of its file. */
  id: FindingId
  /** The right behaviour, as a sentence without its full stop: "A retry keeps its Idempotency-Key". */
  title: string
  /** The wrong behaviour, and its cost: "A dropped transfer was retried with a new Idempotency-Key: this pays twice". */
  failureTitle: string
  /** Place in the specification, and a short quotation: "Idempotency-Key: the same key is reused when retrying …". */
  rule: string
  impact: Impact
  /** Damage, and who suffers it, if the mistake stays: one or two sentences. */
  consequence: string
  /** Event that must occur before it can be judged, in words: "a transfer whose connection drops". */
  situation: string
  /** Arguments of `yield-sandbox exec` that bring the situation about: `--scenario dropped-deposit`; empty if ordinary traffic does. */
  exerciseWith: string
  /** The remedy. */
  fix: string
  /** Ids of the wrong clients in examples/wrong-clients that must make it fail. */
  wrongClients: readonly string[]
  /** Pure: the same evidence gives the same judgement. */
  judge(evidence: Evidence): Judgement
}

/** An exchange to show. */
type Named = { request_id: string; number: number }

/** The situation never arose. */
export function notExercised(explanation: string): Judgement {
  return { outcome: 'not_exercised', explanation, request_ids: [] }
}

/** The client did right; the exchanges show that the situation arose. */
export function passed(explanation: string, exchanges: readonly Named[]): Judgement {
  return { outcome: 'passed', explanation, request_ids: idsOf(exchanges) }
}

/** Traffic alone cannot show it. */
export function needsReview(explanation: string, exchanges: readonly Named[]): Judgement {
  return { outcome: 'needs_review', explanation, request_ids: idsOf(exchanges) }
}

/** The client did wrong. */
export function failed(
  explanation: string,
  { expected, came }: { expected: string; came: string },
  exchanges: readonly Named[],
): Judgement {
  return { outcome: 'failed', explanation, expected, came, request_ids: idsOf(exchanges) }
}

function idsOf(exchanges: readonly Named[]): string[] {
  const oldestFirst = [...exchanges].sort((a, b) => a.number - b.number)
  return [...new Set(oldestFirst.map(({ request_id }) => request_id))]
}
