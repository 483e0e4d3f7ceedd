import type { Collection, Collections, Store } from './ports/store.ts'
import type { Portfolio } from './records.ts'

/** The sandbox was about to record an impossible amount of money, by a mistake of its own. Nothing was recorded. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
  readonly code = 'invariant_broken'

  /** Each part of the message is a few words: the amount and its portfolio, the allowed value, the value found. */
  constructor(
    readonly what: string,
    readonly expected: string,
    readonly found: string,
  ) {
    super(`${what} must be ${expected}; found ${found}`)
  }
}

/** Amounts of a portfolio that are never negative. */
const NEVER_NEGATIVE = ['shares', 'deposited', 'yield_earned_realized'] as const

/** Throws {@link InvariantError} if an amount of a portfolio that is about to be written is negative. */
export function requireSoundPortfolio(portfolio: Portfolio): void {
  for (const name of NEVER_NEGATIVE) {
    const amount = portfolio[name]
    if (BigInt(amount) < 0n)
      throw new InvariantError(`${name} of portfolio ${portfolio.portfolio_id}`, '0 or more', amount)
  }
}

/** Returns a record that the ledger must hold. Throws an Error if it does not. */
export async function requireRecord<C extends Collection>(
  store: Store,
  collection: C,
  id: string,
): Promise<Collections[C]> {
  const record = await store.get(collection, id)
  if (!record) throw new Error(`there is no ${id} in ${collection}`)
  return record
}
