import { createKeccak } from 'hash-wasm'
import { publicKeyToAddress } from 'viem/accounts'
import { bytesToHex, concatBytes, hexToBytes, keccak256, numberToHex, stringToHex, toRlp, trim } from 'viem/utils'
import type { SignedTransaction, WalletFunding, WalletOwner } from '../../domain/ports/chain.ts'
import type { Address, Hex } from '../../domain/records.ts'
import type { RpcCall } from '../json-rpc/rpc-client.ts'

/** A call of a contract, as an EIP-1559 transaction with free gas and without value. */
export interface WalletTransaction {
  chainId: number
  nonce: number
  to: Address
  gas: bigint
  data: Hex
}

/** The wallet of an end user. */
export interface Wallet {
  readonly address: Address
  /** Signs a transaction. The signature depends on key and transaction alone (RFC 6979). */
  sign(transaction: WalletTransaction): Pick<SignedTransaction, 'tx_hash' | 'raw_transaction'>
}

const EIP1559 = Uint8Array.of(2)
const NOTHING = '0x'

/** Makes a wallet from a private key of 32 bytes. */
type WalletOpener = (key: Uint8Array) => Wallet

let opener: Promise<WalletOpener> | undefined

/**
 * Loads the opener of wallets. They sign exactly as viem's accounts do, in a quarter of the time, with libsecp256k1 and Keccak
 * in WebAssembly, which is compiled once. The opener has no state.
 */
export function loadWalletOpener(): Promise<WalletOpener> {
  opener ??= compileWalletOpener()
  return opener
}

async function compileWalletOpener(): Promise<WalletOpener> {
  const { loadSecp256k1 } = await import('./secp256k1.ts')
  const curve = await loadSecp256k1()
  const keccak = await createKeccak(256)
  const hashOf = (bytes: Uint8Array) => keccak.init().update(bytes).digest('binary')
  return (key) => ({
    address: publicKeyToAddress(bytesToHex(curve.publicKey(key))),
    sign(transaction) {
      const fields = fieldsOf(transaction)
      const { r, s, parity } = curve.sign(key, hashOf(envelope(fields)))
      const signed = envelope([...fields, quantity(parity), bytesToHex(trim(r)), bytesToHex(trim(s))])
      return { tx_hash: bytesToHex(hashOf(signed)), raw_transaction: bytesToHex(signed) }
    },
  })
}

type Field = Hex | readonly Field[]

/** The members of an EIP-1559 transaction in order; both fees and the value are zero, the access list is empty. */
function fieldsOf({ chainId, nonce, gas, to, data }: WalletTransaction): Field[] {
  return [quantity(chainId), quantity(nonce), NOTHING, NOTHING, quantity(gas), to, NOTHING, data, []]
}

/** Formats a number for RLP: without leading zeros, so zero is empty. */
function quantity(value: number | bigint): Hex {
  return value ? numberToHex(value) : NOTHING
}

function envelope(fields: readonly Field[]): Uint8Array {
  return concatBytes([EIP1559, toRlp(fields as Parameters<typeof toRlp>[0], 'bytes')])
}

/** The end users' wallets. Keys are derived from the seed and the owner alone, so they need not be stored. */
export class Wallets {
  readonly #wallets = new Map<string, Wallet>()
  #open: WalletOpener | undefined

  constructor(readonly seed: number) {}

  /** Loads the code that signs, in some 20 ms. May be called again. */
  async load(): Promise<void> {
    this.#open ??= await loadWalletOpener()
  }

  /** Finds or makes the wallet of an owner. Call {@link Wallets.load} first. */
  of({ tenant_id, external_id }: WalletOwner): Wallet {
    // A JSON array, so that different owners and seeds cannot make the same text; the first member separates these keys from
    // other values that may be derived from the seed.
    const identity = JSON.stringify(['yield-sandbox/wallet', this.seed, tenant_id, external_id])
    let wallet = this.#wallets.get(identity)
    if (!wallet) {
      if (!this.#open) throw new Error('the code of wallets has not been loaded')
      wallet = this.#open(hexToBytes(keccak256(stringToHex(identity))))
      this.#wallets.set(identity, wallet)
    }
    return wallet
  }
}

/** The largest allowance that a wallet can give. */
const UNLIMITED = numberToHex(2n ** 256n - 1n)

/** Anvil's call that sets an account's balance of a token to exactly `amount`, in minor units. */
export function dealing(account: Address, token: Address, amount: bigint): RpcCall {
  return ['anvil_dealERC20', account, token, numberToHex(amount)]
}

/** Anvil's calls that give a wallet its tokens and allow the markets to take them. */
export function fundingCalls(wallet: Address, funding: readonly WalletFunding[]): RpcCall[] {
  return funding.flatMap(({ token_address, amount, spenders }): RpcCall[] => [
    dealing(wallet, token_address, amount),
    ...spenders.map((spender): RpcCall => ['anvil_setERC20Allowance', wallet, spender, token_address, UNLIMITED]),
  ])
}
