import type { CausedTransfer } from '../../traffic/recorded-exchange.ts'
import type { Evidence } from '../evidence.ts'
import { isUncertain } from './fate.ts'
import { asksTheSame, isFresh, isLookUp } from './sequel.ts'
import { attemptsOf, isTransfer, type Step, stepsAfter, type Timeline, tellsOutcome, timelinesOf } from './timelines.ts'

/** A deposit or withdrawal that had no answer, or an answer that says nothing of the money, and what its client did about it. */
export interface UncertainTransfer {
  timeline: Timeline
  /** Those under its key, oldest first. */
  attempts: readonly Step[]
  /** The attempt that left it uncertain, and the last of all. */
  first: Step
  last: Step
  /** True if an attempt had no answer at all. */
  unanswered: boolean
  /** The transaction, when it was carried out. */
  transfer: CausedTransfer | null
  /** The repetition under the same key that told its outcome; null when none did. */
  told: Step | null
  /** The next transfer under a key of its own that was sent after the last attempt; null when there is none. */
  next: Step | null
  /** Answered lists of transactions between the last attempt and the next transfer. */
  looks: readonly Step[]
  /** The first of them that shows the transaction. */
  found: Step | null
}

/** Every transfer that was uncertain once. */
export function uncertainTransfersOf(evidence: Evidence): UncertainTransfer[] {
  return timelinesOf(evidence).flatMap((timeline) =>
    timeline.steps
      .filter((step) => isTransfer(step.exchange) && isUncertain(step.fate))
      .filter((step) => firstUncertain(attemptsOf(timeline, step)) === step)
      .map((first) => uncertainTransfer(first, timeline)),
  )
}

/** Undefined when the record begins in the middle: a list that was asked for in between may be forgotten. */
function firstUncertain(attempts: readonly Step[]): Step | undefined {
  return attempts[0]?.kept ? undefined : attempts.find(({ fate }) => isUncertain(fate))
}

function uncertainTransfer(first: Step, timeline: Timeline): UncertainTransfer {
  const attempts = attemptsOf(timeline, first)
  const last = attempts.at(-1) ?? first
  const told = attempts.find((attempt) => attempt.place > first.place && tellsOutcome(attempt)) ?? null
  const transfer = attempts.map(({ exchange }) => exchange.transfer).find((one) => one?.transaction_id) ?? null
  const unanswered = attempts.some(({ fate }) => fate === 'unanswered')
  return { timeline, attempts, first, last, unanswered, transfer, told, ...followed(last, transfer, timeline) }
}

function followed(last: Step, transfer: CausedTransfer | null, timeline: Timeline) {
  const looks: Step[] = []
  let next: Step | null = null
  for (const step of stepsAfter(timeline, last)) {
    if (isLookUp(step, last)) looks.push(step)
    if (!isFresh(step, last, timeline)) continue
    next = step
    break
  }
  return { looks, next, found: looks.find((look) => shows(look, transfer)) ?? null }
}

/** @returns true if a list shows a transaction, or may: a body that was cut shows only its beginning. */
export function shows({ exchange: { response } }: Step, transfer: CausedTransfer | null): boolean {
  if (transfer === null || response === null) return false
  const names = [transfer.transaction_id, transfer.tx_hash].filter((name) => name !== null)
  return response.body_cut || names.some((name) => response.body?.includes(name))
}

/** @returns true if a write asks for the same as one of these attempts; undefined when nobody can know. */
export function repeatsOneOf(step: Step, attempts: readonly Step[]): boolean | undefined {
  const compared = attempts.map(({ exchange }) => asksTheSame(exchange, step.exchange))
  if (compared.includes(true)) return true
  return compared.includes(false) ? false : undefined
}
