import { atLeastZero } from './balances.ts'
import type { ValuedPortfolio } from './portfolios.ts'
import type { TransactionOutcome } from './ports/chain.ts'
import type { Hex, Portfolio, Transaction, TransactionType } from './records.ts'

/** All shares of one wallet in one market, and the portfolios that divide them. */
export interface Holding {
  pool_id: string
  portfolios: readonly Portfolio[]
  /** As read from the chain. */
  shares: bigint
  /** `shown`: the API's answer for each portfolio. `worth`: the chain's value of the whole, without gifts, at the same moment. */
  shown: readonly ValuedPortfolio[]
  worth: bigint
}

/** Tokens of one kind in a wallet. */
export interface TokenBalance {
  token_symbol: string
  /** Balance that the wallet was made with, in minor units. */
  funded: bigint
  /** Net amount that the ledger's transfers took out of the wallet since, in minor units. */
  spent: bigint
  /** As read from the chain. */
  balance: bigint
}

/** The ledger's and the chain's data on one end user. */
export interface AuditEvidence {
  /** The end user's name in reports: `alice (acme)`. */
  name: string
  portfolios: readonly Portfolio[]
  /** Newest first. */
  transactions: readonly Transaction[]
  holdings: readonly Holding[]
  balances: readonly TokenBalance[]
  outcomes: ReadonlyMap<Hex, TransactionOutcome>
}

/** Result of one check: the number of things compared, and a few words for each offence. */
export interface AuditFinding {
  compared: number
  offences: string[]
  /**
   * Gifts of others to a wallet, each in a few words. Nobody can refuse a gift on a chain, so a gift is not an offence. It cannot
   * hide a mistake of the service: a transfer moves money from one side to the other, so if the ledger does not know of it, the
   * other side has too little.
   */
  gifts?: string[]
}

/** The portfolios divide the shares of a wallet, except for gifts, without remainder, and none has a negative number of shares. */
export function checkShares({ name, holdings }: AuditEvidence): AuditFinding {
  const offences: string[] = []
  const gifts: string[] = []
  for (const { pool_id, portfolios, shares } of holdings) {
    const booked = bookedShares(portfolios)
    for (const { portfolio_id, shares } of portfolios) {
      if (BigInt(shares) < 0n) offences.push(`${portfolio_id} of ${name} has ${shares} shares`)
    }
    if (booked > shares) offences.push(`${name} in ${pool_id} has ${booked} shares in the ledger, ${shares} on chain`)
    if (booked < shares) gifts.push(`${shares - booked} shares in ${pool_id} to the wallet of ${name}`)
  }
  return { compared: holdings.length, offences, gifts }
}

/** Sum of the shares that the ledger books for the portfolios. */
export function bookedShares(portfolios: readonly Portfolio[]): bigint {
  return sum(portfolios.map(({ shares }) => BigInt(shares)))
}

/** A portfolio is the sum of its transactions: each begins where the previous one ended. */
export function checkPrincipal({ name, portfolios, transactions }: AuditEvidence): AuditFinding {
  const histories = new Map<string, Transaction[]>(portfolios.map(({ portfolio_id }) => [portfolio_id, []]))
  const offences: string[] = []
  for (const transaction of transactions.toReversed()) {
    const history = histories.get(transaction.portfolio_id)
    if (history) history.push(transaction)
    else offences.push(`${transaction.id} of ${name} names no portfolio of the end user`)
  }
  for (const portfolio of portfolios) {
    const flaw = flawOf(portfolio, histories.get(portfolio.portfolio_id) ?? [])
    if (flaw !== undefined) offences.push(`${portfolio.portfolio_id} of ${name}: ${flaw}`)
  }
  return { compared: portfolios.length, offences }
}

function flawOf(portfolio: Portfolio, history: readonly Transaction[]): string | undefined {
  let deposited = 0n
  let earned = 0n
  let realized = 0n
  for (const [i, { id, type, amount_changed, ...booked }] of history.entries()) {
    const after = BigInt(booked.deposited_amount_after)
    const earnedAfter = BigInt(booked.yield_earned_after)
    const moved = BigInt(amount_changed)
    if (BigInt(booked.deposited_amount_before) !== deposited)
      return `${id} begins with a principal other than ${deposited}`
    if (BigInt(booked.yield_earned_before) !== earned) return `${id} begins with a yield other than ${earned}`
    if (BigInt(booked.yield_delta) !== earnedAfter - earned) return `${id} has another yield_delta`
    if (!fits(type, moved, after - deposited)) {
      return `${id} changes the principal from ${deposited} to ${after} by a ${type} of ${moved}`
    }
    if (type === 'yield_harvest') {
      if (moved !== earnedAfter - earned) return `${id} is of another amount than its yield_delta`
      if (!isTransferOf(booked.tx_hash, history[i + 1])) return `${id} is not followed by the transfer it names`
    }
    if (type === 'withdrawal') realized += atLeastZero(moved - (deposited - after))
    deposited = after
    earned = earnedAfter
  }
  if (deposited < 0n || BigInt(portfolio.deposited) !== deposited) {
    return `deposited is ${portfolio.deposited}, by its transactions ${deposited}`
  }
  if (BigInt(portfolio.yield_earned_synced) !== earned) return `the yield synced last is not ${earned}`
  if (BigInt(portfolio.yield_earned_realized) === realized) return undefined
  return `yield_earned_realized is ${portfolio.yield_earned_realized}, by its transactions ${realized}`
}

/** @returns true if a transaction of this type and amount can change the principal by `change` */
function fits(type: TransactionType, moved: bigint, change: bigint): boolean {
  if (type === 'deposit') return change === moved
  return type === 'withdrawal' ? change <= 0n : change === 0n
}

function isTransferOf(hash: Hex, transaction: Transaction | undefined): boolean {
  return transaction?.type !== 'yield_harvest' && transaction?.tx_hash === hash
}

/** The API shows what the chain holds: the formula of assumption `balance-meaning`, and the worth of the whole. */
export function checkBalances({ name, holdings }: AuditEvidence): AuditFinding {
  const offences = holdings.flatMap(({ pool_id, shown, worth }) => {
    const wrong = shown
      .filter(({ balances: { total_balance, deposited, yield_earned, yield_earned_realized } }) => {
        const earned = BigInt(total_balance) - BigInt(deposited) + BigInt(yield_earned_realized)
        return BigInt(yield_earned) !== atLeastZero(earned)
      })
      .map(
        ({ portfolio }) => `${portfolio.portfolio_id} of ${name} shows a yield that does not follow from its balances`,
      )
    const total = sum(shown.map(({ balances }) => BigInt(balances.total_balance)))
    const off = total > worth ? total - worth : worth - total
    // Each part is rounded on its own: less than a minor unit apiece.
    if (off < BigInt(Math.max(shown.length, 1))) return wrong
    return [...wrong, `${name} in ${pool_id} is shown ${total}, worth ${worth} on chain`]
  })
  return { compared: holdings.flatMap(({ shown }) => shown).length, offences }
}

/** A wallet holds its initial funds, less deposits, plus withdrawals and gifts. */
export function checkWallets({ name, balances }: AuditEvidence): AuditFinding {
  const offences: string[] = []
  const gifts: string[] = []
  for (const { token_symbol, funded, spent, balance } of balances) {
    const booked = funded - spent
    if (balance < booked)
      offences.push(`the wallet of ${name} holds ${balance} ${token_symbol}, by the ledger ${booked}`)
    if (balance > booked) gifts.push(`${balance - booked} minor units of ${token_symbol} to the wallet of ${name}`)
  }
  return { compared: balances.length, offences, gifts }
}

/** Every transaction of the ledger succeeded on chain. */
export function checkHashes({ name, transactions, outcomes }: AuditEvidence): AuditFinding {
  const offences = transactions.flatMap(({ id, tx_hash }) => {
    const outcome = outcomes.get(tx_hash) ?? 'unknown'
    if (outcome === 'success') return []
    return [`${tx_hash} (${id} of ${name}) is ${outcome === 'reverted' ? 'reverted' : 'not'} on chain`]
  })
  return { compared: transactions.length, offences }
}

/** Each key causes one transaction until the key expires. `ttl` is in milliseconds. */
export function checkIdempotency({ transactions }: AuditEvidence, ttl: number): AuditFinding {
  const latest = new Map<string, Transaction>()
  const offences: string[] = []
  for (const transaction of transactions.toReversed()) {
    if (transaction.idempotency_id === null) continue
    const earlier = latest.get(transaction.idempotency_id)
    latest.set(transaction.idempotency_id, transaction)
    if (earlier && Date.parse(transaction.created_at) - Date.parse(earlier.created_at) <= ttl) {
      offences.push(`the key ${transaction.idempotency_id} caused both ${earlier.id} and ${transaction.id}`)
    }
  }
  return { compared: latest.size, offences }
}

function sum(numbers: readonly bigint[]): bigint {
  return numbers.reduce((total, number) => total + number, 0n)
}
