import type { Money, MoneyTransfer, PoolMoney } from '../../src/domain/money.ts'

let count = 0

/** `deposit 250` or `withdraw 0.5`, in USDC. */
export function transfer(text: string): MoneyTransfer {
  count++
  const [type, amount = '0'] = text.split(' ')
  return {
    transaction_id: `tx_${count}`,
    type: type === 'withdraw' ? 'withdraw' : 'deposit',
    amount_minor: String(Math.round(Number(amount) * 1e6)),
    tx_hash: `0x${count}`,
  }
}

/** A pool of USDC with these transfers. */
export function pool(transfers: readonly string[]): PoolMoney {
  const moved = transfers.map(transfer)
  const principal = moved.reduce(
    (sum, { type, amount_minor }) => sum + BigInt(amount_minor) * (type === 'deposit' ? 1n : -1n),
    0n,
  )
  return {
    pool_id: 'aave-usdc',
    token_symbol: 'USDC',
    token_decimals: 6,
    principal: String(principal),
    transfers: moved,
  }
}

/** The money of end users of acme, by name: their transfers. */
export function money(users: Record<string, readonly string[]>): Money {
  return {
    users: Object.entries(users).map(([external_id, transfers]) => {
      const pools = [pool(transfers)]
      const balance = String(10n ** 12n - BigInt(pools[0]?.principal ?? 0))
      const wallet = [{ chain_id: '31337', token_symbol: 'USDC', token_decimals: 6, balance }]
      return { tenant: 'acme', external_id, pools, wallet }
    }),
  }
}
