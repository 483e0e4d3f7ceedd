import { createKeccak } from 'hash-wasm'
import { publicKeyToAddress } from 'viem/accounts'
import { bytesToHex, concatBytes, hexToBytes, keccak256, numberToHex, stringToHex, toRlp, trim } from 'viem/utils'
import type { SignedTransaction, WalletFunding, WalletOwner } from '../../domain/ports/chain.ts'
import type { Address, Hex } from '../../domain/records.ts'
import type { RpcCall } from '../json-rpc/rpc-client.ts'

/** A call of a contract, as an EIP-1559 transaction without value whose gas is free. */
export interface WalletTransaction {
  chainId: number
  nonce: number
  to: Address
  gas: bigint
  data: Hex
}

/** Whatever an end user signs with. */
export interface Wallet {
  readonly address: Address
  /** The signature follows from key and transaction alone (RFC 6979). */
  sign(transaction: WalletTransaction): Pick<SignedTransaction, 'tx_hash' | 'raw_transaction'>
}

const EIP1559 = Uint8Array.of(2)
const NOTHING = '0x'

/** Makes a wallet of a private key of 32 bytes. */
type WalletOpener = (key: Uint8Array) => Wallet

let opener: Promise<WalletOpener> | undefined

/**
 * Resolves with what makes a wallet. It does exactly as viem's accounts do, in a quarter of the time: with libsecp256k1 and
 * Keccak in WebAssembly, which is compiled once. It has no state.
 */
export function loadWalletOpener(): Promise<WalletOpener> {
  opener ??= compileWalletOpener()
  return opener
}

async function compileWalletOpener(): Promise<WalletOpener> {
  // The package's front door would load all of the package.
  const { instantiateSecp256k1 } = await import('@bitauth/libauth/build/lib/crypto/secp256k1.js')
  const { derivePublicKeyUncompressed, signMessageHashRecoverableCompact } = await instantiateSecp256k1()
  const keccak = await createKeccak(256)
  const hashOf = (bytes: Uint8Array) => keccak.init().update(bytes).digest('binary')
  return (key) => ({
    address: publicKeyToAddress(bytesToHex(done(derivePublicKeyUncompressed(key)))),
    sign(transaction) {
      const fields = fieldsOf(transaction)
      const { signature, recoveryId } = done(signMessageHashRecoverableCompact(key, hashOf(envelope(fields))))
      const [r, s] = [trim(signature.subarray(0, 32)), trim(signature.subarray(32))]
      const signed = envelope([...fields, quantity(recoveryId), bytesToHex(r), bytesToHex(s)])
      return { tx_hash: bytesToHex(hashOf(signed)), raw_transaction: bytesToHex(signed) }
    },
  })
}

type Field = Hex | readonly Field[]

/** The members of an EIP-1559 transaction in their order; both fees and the value are nothing, the access list is empty. */
function fieldsOf({ chainId, nonce, gas, to, data }: WalletTransaction): Field[] {
  return [quantity(chainId), quantity(nonce), NOTHING, NOTHING, quantity(gas), to, NOTHING, data, []]
}

/** A number as RLP takes it: without leading zeros, and so without anything for zero. */
function quantity(value: number | bigint): Hex {
  return value ? numberToHex(value) : NOTHING
}

function envelope(fields: readonly Field[]): Uint8Array {
  return concatBytes([EIP1559, toRlp(fields as Parameters<typeof toRlp>[0], 'bytes')])
}

/** libauth returns its errors. */
function done<Result>(result: Result | string): Result {
  if (typeof result === 'string') throw new Error(result)
  return result
}

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

/** The greatest allowance a wallet can give. */
const UNLIMITED = numberToHex(2n ** 256n - 1n)

/** Anvil's call that makes an account hold exactly so much of a token, in minor units. */
export function dealing(account: Address, token: Address, amount: bigint): RpcCall {
  return ['anvil_dealERC20', account, token, numberToHex(amount)]
}

/** Anvil's calls that give a wallet its tokens and let the markets take them. */
export function fundingCalls(wallet: Address, funding: readonly WalletFunding[]): RpcCall[] {
  return funding.flatMap(({ token_address, amount, spenders }): RpcCall[] => [
    dealing(wallet, token_address, amount),
    ...spenders.map((spender): RpcCall => ['anvil_setERC20Allowance', wallet, spender, token_address, UNLIMITED]),
  ])
}
