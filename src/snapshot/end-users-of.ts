import { DEFAULT_WALLET_TOKENS } from '../domain/end-users.ts'
import type { Collection, Collections } from '../domain/ports/store.ts'
import type { Funded, Pool, Portfolio } from '../domain/records.ts'
import { formatTokens } from '../domain/transfer-rules.ts'
import { grouped } from '../support/maps.ts'
import type { SnapshotContent } from './snapshot-content.ts'
import type { SnapshotPut } from './snapshot-schema.ts'

/** An end user of a fixture file, whose portfolios hold the principal that they hold in a snapshot. */
export interface EndUserWithPrincipal {
  external_id: string
  /** Whole tokens by symbol; left out if the wallet was made with the default. */
  wallet_balance?: Record<string, string>
  portfolios?: { name: string; description?: string; pool: string; deposit?: string }[]
}

/** The end users of a tenant, in the order in which they were created. */
export function endUsersOf({ puts }: SnapshotContent, tenantId: string): EndUserWithPrincipal[] {
  const pools = recordsOf(puts, 'pools').filter(({ tenant_id }) => tenant_id === tenantId)
  const portfolios = grouped(recordsOf(puts, 'portfolios'), ({ end_user_id }) => end_user_id)
  const users = recordsOf(puts, 'end_users').filter(({ tenant_id }) => tenant_id === tenantId)
  return users.map(({ id, external_id, funded }) => {
    const own = portfolios.get(id) ?? []
    const wallet_balance = walletOf(funded, own, pools)
    return {
      external_id,
      ...(wallet_balance && { wallet_balance }),
      ...(own.length > 0 && { portfolios: own.map(portfolioOf) }),
    }
  })
}

function recordsOf<Name extends Exclude<Collection, 'tenants'>>(
  puts: readonly SnapshotPut[],
  name: Name,
): Collections[Name][] {
  const own = puts.filter(([collection]) => collection === name).sort(([, one], [, other]) => one - other)
  return own.map(([, , record]) => record as Collections[Name])
}

function portfolioOf({ name, description, pool_id: pool, deposited, token_decimals }: Portfolio) {
  const deposit = formatTokens(BigInt(deposited), token_decimals)
  return { name, ...(description !== null && { description }), pool, ...(deposit !== '0' && { deposit }) }
}

/** What the wallet was made with, and at least the principal; a fixture file has one amount of a token for all chains. */
function walletOf(
  funded: readonly Funded[],
  portfolios: readonly Portfolio[],
  pools: readonly Pool[],
): Record<string, string> | undefined {
  const amounts = new Map<string, { amount: bigint; decimals: number }>()
  for (const { chain_id, token_address, token_symbol, token_decimals: decimals } of pools) {
    const isHere = (one: { chain_id: string; token_address: string }) =>
      one.chain_id === chain_id && one.token_address === token_address
    const made = BigInt(funded.find(isHere)?.amount ?? 0)
    const principal = portfolios.filter(isHere).reduce((sum, { deposited }) => sum + BigInt(deposited), 0n)
    const before = amounts.get(token_symbol)?.amount ?? 0n
    amounts.set(token_symbol, { amount: [made, principal, before].reduce((a, b) => (a > b ? a : b)), decimals })
  }
  const all = [...amounts.values()]
  if (all.every(({ amount, decimals }) => amount === DEFAULT_WALLET_TOKENS * 10n ** BigInt(decimals))) return undefined
  return Object.fromEntries(
    [...amounts].map(([symbol, { amount, decimals }]) => [symbol, formatTokens(amount, decimals)]),
  )
}
