import type { Collection, Collections, Store } from './ports/store.ts'
import type { Portfolio } from './records.ts'

/** The sandbox was about to write down money that cannot be: a mistake of its own. Nothing of it is written. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
  readonly code = 'invariant_broken'

  /** Every part of the message is a few words: what of which portfolio, what it must be, what it came to. */
  constructor(
    readonly what: string,
    readonly expected: string,
    readonly found: string,
  ) {
    super(`${what} must be ${expected}; found ${found}`)
  }
}

/** What no portfolio may have less than none of. */
const NEVER_NEGATIVE = ['shares', 'deposited', 'yield_earned_realized'] as const

/** Throws {@link InvariantError} when a portfolio, as it is about to be written, has less than nothing of something. */
export function requireSoundPortfolio(portfolio: Portfolio): void {
  for (const name of NEVER_NEGATIVE) {
    const amount = portfolio[name]
    if (BigInt(amount) < 0n)
      throw new InvariantError(`${name} of portfolio ${portfolio.portfolio_id}`, '0 or more', amount)
  }
}

/** A record that the ledger must hold. Throws an Error when it does not. */
export async function requireRecord<C extends Collection>(
  store: Store,
  collection: C,
  id: string,
): Promise<Collections[C]> {
  const record = await store.get(collection, id)
  if (!record) throw new Error(`there is no ${id} in ${collection}`)
  return record
}
