import { Type } from '@sinclair/typebox'
import { Problem } from '../../domain/errors.ts'
import { type Exchange, ExchangeEnded } from '../../domain/exchange.ts'
import type { Operation } from '../../domain/operations.ts'
import { defineKind } from '../fault-kind.ts'
import { Choice, TRANSFERS, withDefault } from '../parameters.ts'
import type { Phase } from '../phase.ts'
import type { OngoingStrike, Strike } from '../strike.ts'

/** Attempts under one key that are lost: a client that keeps repeating its key is right, and gets its answer. */
const MOST_ATTEMPTS = 12
/** Milliseconds of real time without an attempt after which an incident is over. */
const SILENCE_MS = 30_000

const HOW = {
  lost: 'is lost with its connection',
  unavailable: 'is 503 service_unavailable',
}

/**
 * An incident that outlasts the client's patience: every answer to one operation of one end user is lost. It strikes one request, and
 * then the requests that repeat it.
 */
export const outage = defineKind({
  kind: 'outage',
  scope: 'service',
  group: 'connection',
  phases: ['after_broadcast', 'during_response', 'on_request'],
  operations: TRANSFERS,
  with: Type.Object(
    {
      how: withDefault('lost', Choice(['lost', 'unavailable'], { description: 'What becomes of every answer.' })),
    },
    { additionalProperties: false },
  ),
  explain: ({ how }, when) =>
    `An outage begins ${when}: every answer to the operation ${HOW[how]}, until another Idempotency-Key comes, a list of transactions is asked for, nothing came for ${SILENCE_MS / 1000} s, or ${MOST_ATTEMPTS} attempts were lost.`,
  goesOn: (strike) => new Incident(strike),
  strike({ id, exchange, phase, with: { how } }) {
    if (how === 'lost') {
      exchange.drop({ how: 'reset' })
      // The request is dropped before anything was done, so it does not happen.
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

/** Strikes the requests that repeat the first one. */
class Incident implements OngoingStrike {
  /** A repeated request gets the response kept under its key, so no phase of a transfer comes again. */
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

/** A client that calls this looks up its transfer: it has stopped repeating. */
const LOOK_UP: Operation = 'list_transactions'
