import type { ServiceSettings } from '../domain/service-settings.ts'
import type { Facts } from '../oracle/facts.ts'
import type { FindingId } from './finding-ids.ts'

/**
 * What requests to the control interface have taken away since the namespace was made: a count each, which no reset sets back. Only those
 * that came over the network count, as of a command that does it to its own sandbox; what this process asks of itself does not.
 */
export interface TakenAway {
  /** Requests to take faults away or to stop a scenario, whether anything was in force or not. */
  clearings: number
  /** Resets. */
  resets: number
  /** Rules that these took away while they could still strike. */
  faults: number
}

/** What findings are drawn from. */
export interface Evidence extends Facts {
  taken_away: TakenAway
  /** Real time of the judgement, milliseconds since the Unix epoch. */
  now: number
  settings: ServiceSettings
}

/** What it costs a partner in production. */
export type Impact = 'critical' | 'serious' | 'minor'

/**
 * `passed`: the situation arose, and the client did right. `failed`: it did wrong, and the exchanges prove it. `needs_review`: traffic
 * alone cannot tell. `not_exercised`: the situation never arose. `errored`: the judge itself failed.
 */
export type Outcome = 'passed' | 'failed' | 'needs_review' | 'not_exercised' | 'errored'

/** What a judge makes of the evidence. */
export interface Judgement {
  outcome: Exclude<Outcome, 'errored'>
  /** Sentences for people: what happened, by whom, how often. With `needs_review`, why nobody can know. */
  explanation: string
  /** With `failed`: what a right client would have sent, and what came. */
  expected?: string
  came?: string
  /** The exchanges that show it, oldest first, the fewest that do. */
  request_ids: string[]
}

/** One judgement on the client, from what it sent and got. */
export interface Finding {
  /** A noun phrase; the name of its file. */
  id: FindingId
  /** What is right, as a sentence without its full stop: "A retry keeps its Idempotency-Key". */
  title: string
  /** What is wrong, and what it costs: "A dropped transfer was retried with a new Idempotency-Key: this pays twice". */
  failureTitle: string
  /** Where the specification says so, and what it says in short: "Idempotency-Key: the same key is reused when retrying …". */
  rule: string
  impact: Impact
  /** What happens to whom if it stays so: one or two sentences. */
  consequence: string
  /** What must happen before it can be judged, in words: "a transfer whose connection drops". */
  situation: string
  /** Arguments of `yield-sandbox exec` that bring it about: `--scenario dropped-deposit`; empty when ordinary traffic does. */
  exerciseWith: string
  /** What to do about it. */
  fix: string
  /** Ids of the wrong clients in examples/wrong-clients that must make it fail. */
  wrongClients: readonly string[]
  /** Pure: the same evidence, the same judgement. */
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

/** Traffic alone cannot tell. */
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
