import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { keccak256, stringToHex } from 'viem/utils'
import type { WalletOwner } from '../domain/ports/chain.ts'

/** The end users' wallets: keys follow from the seed and the owner alone, so that nothing about them need be stored. */
export class Wallets {
  readonly #accounts = new Map<string, PrivateKeyAccount>()

  constructor(readonly seed: number) {}

  /** The account that signs for an owner. */
  of({ tenant_id, external_id }: WalletOwner): PrivateKeyAccount {
    // A JSON array, so that no two different triples make the same text; the first member keeps the keys apart from
    // whatever else may be derived from the seed.
    const identity = JSON.stringify(['yield-sandbox/wallet', this.seed, tenant_id, external_id])
    let account = this.#accounts.get(identity)
    if (!account) {
      account = privateKeyToAccount(keccak256(stringToHex(identity)))
      this.#accounts.set(identity, account)
    }
    return account
  }
}
