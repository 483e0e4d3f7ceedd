import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { sameBody } from './request-body.ts'
import { attemptsOf, isTransfer, type Step, stepsAfter, type Timeline } from './timelines.ts'

/**
 * What came of a write whose client could not take its first answer for the last.
 * - `repeated`: the same request under the same key came later, whatever else did.
 * - `looked_up`: else, a list that shows the outcome was asked for and answered, before anything below.
 * - `same_again`: else, the same request came under a fresh key. Not `certain` when what one of the two asked for is not on record.
 * - `another`: else, another write of its kind came: of portfolios, or of transfers.
 * - `nothing`: none of these.
 */
export type Sequel =
  | { kind: 'repeated' | 'looked_up' | 'another'; step: Step }
  | { kind: 'same_again'; step: Step; certain: boolean }
  | { kind: 'nothing' }

/** See {@link Sequel}. */
export function sequelOf(write: Step, timeline: Timeline): Sequel {
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

/** @returns true if two writes ask for the same; undefined when nobody can know. */
export function asksTheSame(one: RecordedExchange, other: RecordedExchange): boolean | undefined {
  if (one.operation !== other.operation) return false
  const [a, b] = [one.transfer, other.transfer]
  const same = sameBody(one, other)
  if (same !== undefined || a === null || b === null) return same
  return a.portfolio_id === b.portfolio_id && a.amount_minor === b.amount_minor
}

/** @returns true if it is an answered list that shows the outcome of the write. */
export function isLookUp({ exchange, fate }: Step, write: Step): boolean {
  return fate === 'done' && exchange.operation === listOf(write)
}

/** The list that shows what became of a write. */
export function listOf({ exchange }: Step): 'list_transactions' | 'list_portfolios' {
  return isTransfer(exchange) ? 'list_transactions' : 'list_portfolios'
}

/** @returns true if it is a write of the same kind under a key that nobody had used before the other write ended. */
export function isFresh(step: Step, write: Step, timeline: Timeline): boolean {
  const { exchange, key } = step
  if (key === write.key) return false
  const alike = isTransfer(write.exchange) ? isTransfer(exchange) : exchange.operation === write.exchange.operation
  if (!alike || exchange.idempotency?.use === 'joined' || exchange.idempotency?.use === 'replayed') return false
  return attemptsOf(timeline, step)[0] === step
}
