import type { CausedTransfer, RecordedExchange } from '../../traffic/recorded-exchange.ts'
import type { Evidence } from '../finding.ts'
import { isUncertain } from './answers.ts'
import { sameBody } from './requests.ts'
import { attemptsOf, isTransfer, type Step, stepsAfter, type Timeline, tellsOutcome, timelinesOf } from './timelines.ts'

/** A deposit or withdrawal without an answer, or with one that does not report its outcome, and the client's reaction. */
export interface UncertainTransfer {
  timeline: Timeline
  /** The attempts under its key, oldest first. */
  attempts: readonly Step[]
  /** The first attempt that left it uncertain, and the last attempt of all. */
  first: Step
  last: Step
  /** True if an attempt had no answer at all. */
  unanswered: boolean
  /** The transaction, if it was carried out. */
  transfer: CausedTransfer | null
  /** The repetition under the same key whose answer reported the outcome; null for none. */
  told: Step | null
  /** The next transfer under another key that was sent after the last attempt; null for none. */
  next: Step | null
  /** Answered lists of transactions between the last attempt and the next transfer. */
  looks: readonly Step[]
  /** The first of them that shows the transaction. */
  found: Step | null
}

/** Every transfer that was ever uncertain. */
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
  return attempts[0]?.kept
    ? undefined
    : attempts.find((step) => isUncertain(step.fate) && !isKnownBefore(step, attempts))
}

/** @returns true if its key was answered 2xx before, and it moved nothing else: the client already knew the outcome */
function isKnownBefore({ place, exchange }: Step, attempts: readonly Step[]): boolean {
  const own = exchange.transfer?.transaction_id ?? null
  return attempts.some((earlier) => {
    if (earlier.place >= place || earlier.fate !== 'done') return false
    return own === null || own === earlier.exchange.transfer?.transaction_id
  })
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

/** @returns true if a list shows a transaction, or may show it: of a cut body only the beginning is on record */
export function shows({ exchange: { response } }: Step, transfer: CausedTransfer | null): boolean {
  if (transfer === null || response === null) return false
  const names = [transfer.transaction_id, transfer.tx_hash].filter((name) => name !== null)
  return response.body_cut || names.some((name) => response.body?.includes(name))
}

/** @returns true if a write asks for the same as one of these attempts; undefined if that is unknown */
export function repeatsOneOf(step: Step, attempts: readonly Step[]): boolean | undefined {
  const compared = attempts.map(({ exchange }) => asksTheSame(exchange, step.exchange))
  if (compared.includes(true)) return true
  return compared.includes(false) ? false : undefined
}

/**
 * The sequel of a write whose first answer the client could not take as final.
 * - `repeated`: the same request under the same key came later, whatever else did.
 * - `looked_up`: else, a list that shows the outcome was asked for and answered, before anything below.
 * - `same_again`: else, the same request came under a fresh key. Not `certain` if one of the two bodies is not on record.
 * - `another`: else, another write of its kind came: of portfolios, or of transfers.
 * - `nothing`: none of these.
 */
export type WriteSequel =
  | { kind: 'repeated' | 'looked_up' | 'another'; step: Step }
  | { kind: 'same_again'; step: Step; certain: boolean }
  | { kind: 'nothing' }

/** See {@link WriteSequel}. */
export function sequelOf(write: Step, timeline: Timeline): WriteSequel {
  const repetition = attemptsOf(timeline, write).find(
    (step) => step.place > write.place && sameBody(step.exchange, write.exchange) !== false,
  )
  if (repetition) return { kind: 'repeated', step: repetition }
  for (const step of stepsAfter(timeline, write)) {
    if (isLookUp(step, write)) return { kind: 'looked_up', step }
    if (!isFresh(step, write, timeline)) continue
    const same = asksTheSame(step.exchange, write.exchange)
    if (same === false) return { kind: 'another', step }
    return { kind: 'same_again', step, certain: same === true }
  }
  return { kind: 'nothing' }
}

/** @returns true if two writes ask for the same; undefined if that is unknown */
export function asksTheSame(one: RecordedExchange, other: RecordedExchange): boolean | undefined {
  if (one.operation !== other.operation) return false
  const [a, b] = [one.transfer, other.transfer]
  const same = sameBody(one, other)
  if (same !== undefined || a === null || b === null) return same
  return a.portfolio_id === b.portfolio_id && a.amount_minor === b.amount_minor
}

/** @returns true if it is an answered list that shows the outcome of the write */
export function isLookUp({ exchange, fate }: Step, write: Step): boolean {
  return fate === 'done' && exchange.operation === listOf(write)
}

/** The list that shows the outcome of a write. */
export function listOf({ exchange }: Step): 'list_transactions' | 'list_portfolios' {
  return isTransfer(exchange) ? 'list_transactions' : 'list_portfolios'
}

/** @returns true if it is a write of the same kind, and the first under another key */
export function isFresh(step: Step, write: Step, timeline: Timeline): boolean {
  const { exchange, key } = step
  if (key === write.key) return false
  const alike = isTransfer(write.exchange) ? isTransfer(exchange) : exchange.operation === write.exchange.operation
  if (!alike || exchange.idempotency?.use === 'joined' || exchange.idempotency?.use === 'replayed') return false
  return attemptsOf(timeline, step)[0] === step
}
