import type { Exchange } from '../domain/exchange.ts'

/** Operations counted at once: keys come from the client and are without end. */
const MAX_COUNTED = 10_000

/** Counts how many attempts of one operation were struck in a row, by whatever rules: a client that never gets through gives up. */
export class StrikesInARow {
  readonly #strikes = new Map<string, number>()

  /** Call when an attempt was struck. */
  add(exchange: Exchange): void {
    const operation = nameOf(exchange)
    const strikes = this.of(exchange) + 1
    // Deleted first, so that it is the newest: the oldest has to go when there are too many.
    this.#strikes.delete(operation)
    const [oldest] = this.#strikes.keys()
    if (this.#strikes.size === MAX_COUNTED && oldest !== undefined) this.#strikes.delete(oldest)
    this.#strikes.set(operation, strikes)
  }

  /** Call when an attempt is answered as it should be. */
  end(exchange: Exchange): void {
    this.#strikes.delete(nameOf(exchange))
  }

  /** How many attempts of the exchange's operation were struck since one was answered. */
  of(exchange: Exchange): number {
    return this.#strikes.get(nameOf(exchange)) ?? 0
  }
}

function nameOf({ tenant, external_id, operation, idempotency_key }: Exchange): string {
  return JSON.stringify([tenant, external_id, operation, idempotency_key])
}
