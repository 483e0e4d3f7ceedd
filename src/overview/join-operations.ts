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

/** An operation as it is joined: the number of its first request, and what it asks for. */
interface Joinable {
  number: number
  operation: string | null
}

/**
 * Numbers of operations that repeat an earlier one under another key, each with the number of the first of them. `find` knows the operation
 * of a request.
 */
export function joinsOf(
  outcomes: readonly OperationOutcome[],
  find: (requestId: string) => Joinable | undefined,
): Map<number, number> {
  const joins = new Map<number, number>()
  const rootOf = (number: number): number => {
    const next = joins.get(number)
    return next === undefined ? number : rootOf(next)
  }
  for (const { outcome, request_ids } of outcomes) {
    if (!AGAIN.includes(outcome)) continue
    const [first, ...others] = request_ids.flatMap((id) => find(id) ?? [])
    for (const other of others) {
      if (!first || other.operation !== first.operation) continue
      const [one, two] = [rootOf(first.number), rootOf(other.number)]
      if (one !== two) joins.set(Math.max(one, two), Math.min(one, two))
    }
  }
  return new Map([...joins.keys()].map((number) => [number, rootOf(number)]))
}

/**
 * Groups the operations of a run: one that was repeated under other keys takes those that repeated it. Operations of which no
 * request is on record are left out.
 */
export function joinOperations(
  operations: readonly ClientOperation[],
  outcomes: readonly OperationOutcome[],
): JoinedOperation[] {
  const byRequest = new Map<string, Joinable>()
  for (const operation of operations) {
    const joinable = { number: numberOf(operation), operation: operation.type }
    for (const { exchange } of operation.attempts) byRequest.set(exchange.request_id, joinable)
  }
  const joins = joinsOf(outcomes, (id) => byRequest.get(id))
  const recorded = operations.filter(({ attempts }) => attempts.length > 0)
  const groups = grouped(recorded, (one) => joins.get(numberOf(one)) ?? numberOf(one))
  return [...groups].map(([number, group]) => ({
    number,
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
