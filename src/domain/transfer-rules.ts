import { Problem } from './errors.ts'
import type { TransferDecision, TransferFacts } from './ports/chain.ts'

/** A deposit moves what was asked for, if the wallet holds it. Throws Problem insufficient_balance. */
export function decideDeposit(amount: bigint, { wallet_balance }: TransferFacts): TransferDecision {
  if (amount > wallet_balance) throw insufficient('wallet', wallet_balance)
  return { amount, all: false }
}

/**
 * A withdrawal moves what was asked for, if the position is worth it. An amount within one minor unit of the worth, or
 * below it by yield of at most `threshold`, empties the position and leaves no dust: the worth grows between the moment
 * a client reads it and the block. Principal is not taken beyond what was asked, rounding aside. Assumption
 * `withdraw-all`. Throws Problem insufficient_balance.
 */
export function decideWithdrawal(
  amount: bigint,
  { position_value: worth }: TransferFacts,
  { deposited, threshold }: { deposited: bigint; threshold: number },
): TransferDecision {
  if (worth === 0n || amount > worth + 1n) throw insufficient('position', worth)
  const left = worth - amount
  // Rounding on chain may leave a position one minor unit below its principal, and a client that asks for just that.
  const isYield = amount + 1n >= deposited && left <= BigInt(threshold)
  return left <= 1n || isYield ? { amount: worth, all: true } : { amount, all: false }
}

function insufficient(what: 'wallet' | 'position', available: bigint): Problem {
  return new Problem('insufficient_balance', {
    detail: `The ${what} holds ${available} minor units, fewer than amount_minor.`,
    param: 'amount_minor',
  })
}
