import type { LedgerPortfolio, LedgerTransfer } from '../oracle/facts.ts'
import type { ClientOperation } from '../oracle/operation.ts'
import type { OperationOutcome } from '../oracle/outcome.ts'
import { grouped } from '../support/maps.ts'
import type { EndUserMoney } from './contract.ts'
import type { JoinedOperation } from './join-operations.ts'

/** A surplus of one end user in one token. */
type Surplus = EndUserMoney['surplus'][number]

/** Money that an operation moved beyond what was asked for. */
interface Excess {
  /** See {@link surplusName}. */
  whose: string
  token_symbol: string
  token_decimals: number
  /** Minor units: above zero for money that is in the portfolios and should not be. */
  amount: bigint
  number: number
}

/**
 * Finds the money that operations moved beyond what the client asked for, by the name of the end user ({@link surplusName}). Each
 * operation was asked for once: every transfer of it after the first is too much, whether it came under another key, or under the same
 * one when that had expired. If a deposit too many was taken out again, the two make up for each other.
 */
export function surplusOf(
  groups: readonly JoinedOperation[],
  outcomes: readonly OperationOutcome[],
  portfolios: readonly LedgerPortfolio[],
): ReadonlyMap<string, Surplus[]> {
  const tokens = new Map(portfolios.map((portfolio) => [portfolio.portfolio_id, portfolio]))
  const refunds = new Refunds(groups, outcomes)
  const excesses = groups.flatMap((group) => excessOf(group, tokens, refunds))
  return new Map([...grouped(excesses, ({ whose }) => whose)].map(([whose, own]) => [whose, sumOf(own)]))
}

/** Name of an end user in {@link surplusOf}. */
export function surplusName(tenant: string | null, externalId: string | null): string {
  return JSON.stringify([tenant, externalId])
}

function excessOf(
  { number, operations }: JoinedOperation,
  tokens: ReadonlyMap<string, LedgerPortfolio>,
  refunds: Refunds,
): Excess[] {
  const [first] = operations
  const [asked, ...again] = operations.flatMap(({ transfers }) => transfers)
  const token = asked && tokens.get(asked.portfolio_id)
  if (!first || !token) return []
  const moved = amountOf(again) - amountOf(refunds.of(operations).flatMap(({ transfers }) => transfers))
  if (moved <= 0n) return []
  const { token_symbol, token_decimals } = token
  const whose = surplusName(first.tenant, first.external_id)
  return [{ whose, token_symbol, token_decimals, amount: first.type === 'withdraw' ? -moved : moved, number }]
}

function amountOf(transfers: readonly LedgerTransfer[]): bigint {
  return transfers.reduce((sum, { amount_minor }) => sum + BigInt(amount_minor), 0n)
}

/** Withdrawals that took out again what had been deposited twice. */
class Refunds {
  readonly #byRequest = new Map<string, ClientOperation>()
  readonly #outcomes: readonly OperationOutcome[]

  constructor(groups: readonly JoinedOperation[], outcomes: readonly OperationOutcome[]) {
    this.#outcomes = outcomes.filter(({ outcome }) => outcome === 'paid_twice_put_right')
    if (this.#outcomes.length === 0) return
    for (const operation of groups.flatMap(({ operations }) => operations)) {
      for (const { exchange } of operation.attempts) this.#byRequest.set(exchange.request_id, operation)
    }
  }

  /** The withdrawals that took out what these deposits had paid in too often, each once. */
  of(deposits: readonly ClientOperation[]): ClientOperation[] {
    const named = this.#outcomes.flatMap(({ request_ids }) => {
      const operations = request_ids.flatMap((id) => this.#byRequest.get(id) ?? [])
      return operations.some((one) => deposits.includes(one)) ? operations : []
    })
    return [...new Set(named)].filter(({ type }) => type === 'withdraw')
  }
}

function sumOf(excesses: readonly Excess[]): Surplus[] {
  const byToken = grouped(excesses, ({ token_symbol, token_decimals }) => `${token_symbol} ${token_decimals}`)
  return [...byToken.values()].flatMap((own): Surplus[] => {
    const [one] = own
    const amount = own.reduce((sum, excess) => sum + excess.amount, 0n)
    if (!one || amount === 0n) return []
    const { token_symbol, token_decimals } = one
    const operation_numbers = own.map(({ number }) => number).sort((a, b) => a - b)
    return [{ token_symbol, token_decimals, amount_minor: amount.toString(), operation_numbers }]
  })
}
