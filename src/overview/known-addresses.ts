import type { KnownAddresses, NamedToken } from '../domain/ports/chain-words.ts'
import type { Store } from '../domain/ports/store.ts'
import type { Address } from '../domain/records.ts'
import { allOf, pagesOf } from '../domain/walk.ts'

/** Owner of a wallet. */
export interface WalletHolder {
  /** Slug. */
  tenant: string
  external_id: string
}

/** The addresses of the ledger, and whose the wallets are. */
export interface AddressBook {
  /** By chain. */
  known(chainId: string): KnownAddresses
  /** By the wallet's address in any case. */
  holder(address: string): WalletHolder | undefined
  /** The wallet of an end user, by its id. */
  walletOf(endUserId: string): Address | undefined
}

/** Reads the addresses of every tenant's pools and end users. */
export async function readAddressBook(store: Store): Promise<AddressBook> {
  const holders = new Map<string, WalletHolder>()
  const wallets = new Map<string, Address>()
  const tokens = new Map<string, NamedToken & { chain_id: string }>()
  const markets = new Map<string, KnownAddresses['markets'][number] & { chain_id: string }>()
  for (const tenant of await allOf(store, 'tenants', 'all')) {
    for (const pool of await allOf(store, 'pools', tenant.tenant_id)) {
      const { chain_id, token_address: token, token_symbol: symbol, token_decimals: decimals } = pool
      tokens.set(`${chain_id}/${token}`, { chain_id, address: token, symbol, decimals })
      const market = { chain_id, address: pool.market_address, name: capitalised(pool.protocol), token }
      markets.set(`${chain_id}/${pool.market_address}/${token}`, market)
    }
    for await (const users of pagesOf(store, 'end_users', tenant.tenant_id)) {
      for (const { id, wallet_address, external_id } of users) {
        holders.set(wallet_address.toLowerCase(), { tenant: tenant.slug, external_id })
        wallets.set(id, wallet_address)
      }
    }
  }
  const names = new Map([...holders].map(([address, { external_id }]) => [address, external_id]))
  const isOn = (chainId: string) => (one: { chain_id: string }) => one.chain_id === chainId
  return {
    known: (chainId) => ({
      tokens: [...tokens.values()].filter(isOn(chainId)),
      markets: [...markets.values()].filter(isOn(chainId)),
      wallets: names,
    }),
    holder: (address) => holders.get(address.toLowerCase()),
    walletOf: (endUserId) => wallets.get(endUserId),
  }
}

/** `aave` → `Aave` */
function capitalised(protocol: string): string {
  return protocol.charAt(0).toUpperCase() + protocol.slice(1)
}
