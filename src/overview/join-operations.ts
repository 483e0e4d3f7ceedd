import type { ClientOperation } from '../oracle/operation.ts'
import type { OperationOutcome, OutcomeId } from '../oracle/outcome.ts'
import { grouped } from '../support/maps.ts'

/** A logical operation as a row shows it: what was sent under its first key, and what repeated it under other keys. */
export interface JoinedOperation {
  /** Number of its first request. */
  number: number
  /** In the order of their first requests. */
  operations: ClientOperation[]
}

/** Outcomes of an operation that was asked for again under another key: to a reader the two are one. */
const AGAIN: readonly OutcomeId[] = ['paid_twice', 'paid_twice_put_right', 'made_twice', 'lucky']

/**
 * Groups the operations of a run: one that was repeated under other keys takes those that repeated it. Operations of which no
 * request is on record are left out.
 */
export function joinOperations(
  operations: readonly ClientOperation[],
  outcomes: readonly OperationOutcome[],
): JoinedOperation[] {
  const byRequest = new Map<string, ClientOperation>()
  const first = new Map<ClientOperation, ClientOperation>()
  for (const operation of operations) {
    for (const { exchange } of operation.attempts) byRequest.set(exchange.request_id, operation)
  }
  const firstOf = (operation: ClientOperation): ClientOperation => {
    let found = operation
    for (let before = first.get(found); before; before = first.get(found)) found = before
    return found
  }
  for (const { outcome, type, request_ids } of outcomes) {
    if (!AGAIN.includes(outcome)) continue
    const same = request_ids.flatMap((id) => byRequest.get(id) ?? []).filter((one) => one.type === type)
    const heads = [...new Set(same.map(firstOf))].sort((a, b) => numberOf(a) - numberOf(b))
    for (const head of heads.slice(1)) if (heads[0]) first.set(head, heads[0])
  }
  const groups = grouped(operations, (operation) => (operation.attempts.length > 0 ? firstOf(operation) : undefined))
  return [...groups].map(([head, group]) => ({
    number: numberOf(head),
    operations: group.sort((a, b) => numberOf(a) - numberOf(b)),
  }))
}

function numberOf({ attempts }: ClientOperation): number {
  return attempts[0]?.exchange.number ?? Number.POSITIVE_INFINITY
}

/** The numbers of operations, by what they are known by elsewhere. */
export class OperationNumbers {
  readonly #byTransaction = new Map<string, number>()
  readonly #requests = new Map<number, string[]>()

  constructor(groups: readonly JoinedOperation[]) {
    for (const { number, operations } of groups) {
      const attempts = operations.flatMap((operation) => operation.attempts)
      for (const { transfers } of operations)
        for (const { tx_hash } of transfers) this.#byTransaction.set(tx_hash, number)
      for (const { exchange } of attempts) {
        // A transfer that is under way or was reverted is not among those of the ledger.
        const hash = exchange.transfer?.tx_hash
        if (hash != null && !this.#byTransaction.has(hash)) this.#byTransaction.set(hash, number)
      }
      this.#requests.set(
        number,
        attempts.map(({ exchange }) => exchange.request_id),
      )
    }
  }

  /** Number of the operation that a transaction belongs to; null for none on record. */
  ofTransaction(hash: string): number | null {
    return this.#byTransaction.get(hash) ?? null
  }

  /** Ids of the requests of an operation, oldest first within each key. */
  requestsOf(number: number | null): string[] {
    return (number !== null && this.#requests.get(number)) || []
  }
}
