import { Type } from '@sinclair/typebox'
import { Problem } from '../../domain/errors.ts'
import { type Exchange, ExchangeEnded } from '../../domain/exchange.ts'
import type { Operation } from '../../domain/operations.ts'
import { type Course, defineKind, type Strike } from '../fault-kind.ts'
import { Choice, TRANSFERS, withDefault } from '../parameters.ts'
import type { Phase } from '../phase.ts'

/** Attempts under one key that are lost: a client that goes on under it for ever is right, and gets its answer. */
const MOST_ATTEMPTS = 12
/** Milliseconds of real time without an attempt after which an incident is over. */
const SILENCE_MS = 30_000

const HOW = {
  lost: 'is lost: its connection is reset',
  unavailable: 'is 503 service_unavailable',
}

/**
 * An incident that outlasts the client's patience: whatever is answered to one operation of one end user, nobody gets it. It strikes one
 * request, and then those that repeat it.
 */
export const outage = defineKind({
  kind: 'outage',
  scope: 'service',
  phases: ['after_broadcast', 'during_response', 'on_request'],
  operations: TRANSFERS,
  with: Type.Object(
    {
      how: withDefault('lost', Choice(['lost', 'unavailable'], { description: 'What becomes of every answer.' })),
    },
    { additionalProperties: false },
  ),
  explain: ({ how }) =>
    `Every answer to the operation ${HOW[how]}, until another Idempotency-Key comes, a list of transactions is asked for, nothing came for ${SILENCE_MS / 1000} s, or ${MOST_ATTEMPTS} attempts were lost.`,
  goesOn: (strike) => new Incident(strike),
  strike({ id, exchange, phase, with: { how } }) {
    if (how === 'lost') {
      exchange.drop({ how: 'reset' })
      // Dropped before anything was read, the request has not happened.
      if (phase === 'on_request') throw new ExchangeEnded()
      return
    }
    const problem = new Problem('service_unavailable', {
      detail: `The fault ${id} asks for this error; nothing failed.`,
    })
    if (phase === 'on_request') throw problem
    exchange.answerNow(problem)
  },
})

/** What goes on after the first answer that was lost. */
class Incident implements Course {
  /** A repeated request is answered from what is kept under its key: no phase of a transfer comes again. */
  readonly phase: Phase
  over = false
  readonly #first: Pick<Exchange, 'operation' | 'tenant' | 'external_id' | 'idempotency_key'>
  readonly #clock: Strike['clock']
  #attempts = 1
  #latest: number

  constructor({ exchange, phase, clock }: Strike) {
    const { operation, tenant, external_id, idempotency_key } = exchange
    this.#first = { operation, tenant, external_id, idempotency_key }
    this.#clock = clock
    this.#latest = clock.wallNow()
    this.phase = phase === 'on_request' ? 'on_request' : 'during_response'
  }

  takes(exchange: Exchange): boolean {
    if (this.over || exchange.tenant !== this.#first.tenant || exchange.external_id !== this.#first.external_id)
      return false
    if (exchange.operation !== this.#first.operation) {
      this.over = exchange.operation === LOOK_UP
      return false
    }
    this.over =
      exchange.idempotency_key !== this.#first.idempotency_key ||
      this.#attempts === MOST_ATTEMPTS ||
      this.#clock.wallNow() - this.#latest >= SILENCE_MS
    this.#latest = this.#clock.wallNow()
    this.#attempts++
    return !this.over
  }
}

/** A client that asks for it looks for what became of its transfer: it has stopped repeating. */
const LOOK_UP: Operation = 'list_transactions'
