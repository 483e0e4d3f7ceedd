import type { CausedTransfer } from '../../traffic/recorded-exchange.ts'
import type { Evidence } from '../evidence.ts'
import { isUncertain } from './fate.ts'
import { sameBody } from './request-body.ts'
import { isFresh, isLookUp } from './sequel.ts'
import { attemptsOf, isTransfer, type Step, type Timeline, timelinesOf } from './timelines.ts'

/** A deposit or withdrawal that had no answer, or an answer that says nothing of the money, and what its client did about it. */
export interface UncertainTransfer {
  timeline: Timeline
  /** Those under its key, oldest first. */
  attempts: readonly Step[]
  /** The attempt that left it uncertain, and the last of all. */
  first: Step
  last: Step
  /** Whether an attempt had no answer at all. */
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
      .filter((step) => isTransfer(step.exchange) && isUncertain(step.fate) && step.key !== null)
      .filter((step) => attemptsOf(timeline, step).find(({ fate }) => isUncertain(fate)) === step)
      .map((first) => uncertainTransfer(first, timeline)),
  )
}

function uncertainTransfer(first: Step, timeline: Timeline): UncertainTransfer {
  const attempts = attemptsOf(timeline, first)
  const last = attempts.at(-1) ?? first
  const told =
    attempts.find(({ place, fate }) => place > first.place && (fate === 'done' || fate === 'refused')) ?? null
  const transfer = attempts.map(({ exchange }) => exchange.transfer).find((one) => one?.transaction_id) ?? null
  const unanswered = attempts.some(({ fate }) => fate === 'unanswered')
  return { timeline, attempts, first, last, unanswered, transfer, told, ...followed(last, transfer, timeline) }
}

function followed(last: Step, transfer: CausedTransfer | null, timeline: Timeline) {
  const looks: Step[] = []
  let next: Step | null = null
  for (let place = last.place + 1; place < timeline.steps.length && next === null; place++) {
    const step = timeline.steps[place]
    if (step === undefined || step.began < last.ended) continue
    if (isLookUp(step, last)) looks.push(step)
    else if (isFresh(step, last, timeline)) next = step
  }
  return { looks, next, found: looks.find((look) => shows(look, transfer)) ?? null }
}

/** Whether a list shows a transaction, or may: a body that was cut shows only its beginning. */
export function shows({ exchange: { response } }: Step, transfer: CausedTransfer | null): boolean {
  if (transfer === null || response === null) return false
  const names = [transfer.transaction_id, transfer.tx_hash].filter((name) => name !== null)
  return response.body_cut || names.some((name) => response.body?.includes(name))
}

/** Whether a transfer asks for the same as an uncertain one. Undefined when nobody can know. */
export function asksTheSame(step: Step, { attempts }: UncertainTransfer): boolean | undefined {
  const compared = attempts.map(({ exchange }) =>
    exchange.operation === step.exchange.operation ? sameBody(exchange, step.exchange) : false,
  )
  if (compared.includes(true)) return true
  return compared.includes(false) ? false : undefined
}
