import { shorten } from '../support/foreign-text.ts'
import { durationInWords } from '../support/quantities.ts'
import type { UncountedExchange } from '../traffic/recorded-exchange.ts'
import type { Mark, Tone } from './contract.ts'
import { amountOf, type OperationFacts, type ShownAttempt } from './operation-facts.ts'

/** The strip of an operation: for each request what it is, what it caused on the chain, and what its client got. */
export function marksOf(facts: OperationFacts): Mark[] {
  const { attempts } = facts
  return attempts.flatMap((attempt, i) => [
    beginOf(attempt, attempts[i - 1]),
    ...causedBy(attempt, facts),
    ...endOf(attempt),
  ])
}

function beginOf({ exchange, booked }: ShownAttempt, before: ShownAttempt | undefined): Mark {
  if (!before) return { kind: 'request', tone: 'plain', label: 'request' }
  const same = isSameKey(exchange, before.exchange)
  if (same === null) return { kind: 'retry', tone: 'plain', label: 'sent again' }
  if (same) return { kind: 'retry', tone: 'plain', label: 'retried with the same key' }
  return { kind: 'retry', tone: booked ? 'bad' : 'warn', label: 'retried with a new key' }
}

/** @returns null if one of the two has no key */
export function isSameKey(one: UncountedExchange, other: UncountedExchange): boolean | null {
  if (!one.idempotency || !other.idempotency) return null
  return one.idempotency.key.toLowerCase() === other.idempotency.key.toLowerCase()
}

function causedBy(attempt: ShownAttempt, facts: OperationFacts): Mark[] {
  const { exchange, booked, reverted } = attempt
  const block = blockOf(exchange)
  const name = block === null ? 'a block' : `block ${block}`
  if (reverted) return [{ kind: 'reverted', tone: 'warn', label: `reverted in ${name}` }]
  if (booked) {
    const again = facts.booked[0] !== booked
    const moved = movedBy(facts, booked.amount_changed)
    return [
      { kind: 'block', tone: again ? 'bad' : 'plain', label: `${name}, ${moved}${again ? ' a second time' : ''}` },
    ]
  }
  const isOwn = exchange.idempotency?.use !== 'joined' && exchange.idempotency?.use !== 'replayed'
  return isOwn && exchange.transfer?.tx_hash ? [{ kind: 'signed', tone: 'plain', label: 'signed' }] : []
}

/** "+250.00 USDC", "−120.00 USDC" */
export function movedBy(facts: OperationFacts, minor: string): string {
  return `${facts.operation === 'withdraw' ? '−' : '+'}${amountOf(facts, minor)}`
}

/** The block of the transaction that a request caused; null if it is not noted. */
export function blockOf({ transfer }: UncountedExchange): number | null {
  return transfer?.steps.find(({ step }) => step === 'mined')?.block ?? null
}

function endOf({ exchange }: ShownAttempt): Mark[] {
  const { kind, tone, title, detail } = endInWords(exchange)
  return [{ kind, tone, label: detail === null ? title.toLowerCase() : `${title.toLowerCase()}, ${detail}` }]
}

/** What a request's client got, in words. */
export interface EndInWords {
  kind: 'waiting' | 'lost' | 'replayed' | 'answered' | 'refused'
  tone: Tone
  title: string
  detail: string | null
}

/** Says what a client got for a request. */
export function endInWords(exchange: UncountedExchange): EndInWords {
  const { end, unread, response, took_ms, idempotency, faults } = exchange
  const after = `after ${durationInWords(took_ms)}`
  if (end === 'open') return { kind: 'waiting', tone: 'plain', title: 'Waiting', detail: null }
  if (end !== 'answered')
    return { kind: 'lost', tone: 'warn', title: 'Answer lost', detail: `${lossOf(exchange)} ${after}` }
  if (unread)
    return {
      kind: 'lost',
      tone: 'warn',
      title: 'Answer lost',
      detail: 'the client closed the connection and did not read it',
    }
  if (faults.some(({ kind }) => kind === 'malformed_body')) {
    return { kind: 'lost', tone: 'warn', title: 'Answer damaged', detail: 'its body cannot be read' }
  }
  if (response === null) return { kind: 'answered', tone: 'plain', title: 'Answered', detail: after }
  const { status, code } = response
  if (status >= 400) {
    const why = code === null ? '' : ` ${shorten(code, 60)}`
    return {
      kind: 'refused',
      tone: status >= 500 ? 'warn' : 'plain',
      title: `Refused ${status}`,
      detail: `${why.trim()} ${after}`.trim(),
    }
  }
  if (idempotency?.use === 'replayed')
    return { kind: 'replayed', tone: 'ok', title: `Replayed ${status}`, detail: `the first answer again, ${after}` }
  return { kind: 'answered', tone: 'plain', title: `Answered ${status}`, detail: after }
}

function lossOf({ end, dropped }: UncountedExchange): string {
  if (end === 'abandoned') return 'the client left'
  if (end === 'cut_off') return 'cut off by a reset, or the end of a process'
  return { reset: 'connection reset', closed: 'connection closed', truncated: 'cut short' }[dropped ?? 'closed']
}
