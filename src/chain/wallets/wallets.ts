import { hexToBytes, keccak256, stringToHex } from 'viem/utils'
import type { WalletOwner } from '../../domain/ports/chain.ts'
import { loadWalletOpener, type Wallet } from './wallet.ts'

/** The end users' wallets: keys follow from the seed and the owner alone, so that nothing about them need be stored. */
export class Wallets {
  /** Loads what signs: some 20 ms. */
  static async load(seed: number): Promise<Wallets> {
    return new Wallets(seed, await loadWalletOpener())
  }

  readonly #wallets = new Map<string, Wallet>()
  readonly #open: (key: Uint8Array) => Wallet

  private constructor(
    readonly seed: number,
    open: (key: Uint8Array) => Wallet,
  ) {
    this.#open = open
  }

  /** The wallet of an owner. */
  of({ tenant_id, external_id }: WalletOwner): Wallet {
    // A JSON array, so that no two different triples make the same text; the first member keeps the keys apart from
    // whatever else may be derived from the seed.
    const identity = JSON.stringify(['yield-sandbox/wallet', this.seed, tenant_id, external_id])
    let wallet = this.#wallets.get(identity)
    if (!wallet) {
      wallet = this.#open(hexToBytes(keccak256(stringToHex(identity))))
      this.#wallets.set(identity, wallet)
    }
    return wallet
  }
}
