import { type LocalAccount, mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'
import { pad, parseAbi } from 'viem/utils'
import { MARKET_OWNER } from '../domain/chain-setup.ts'
import type { Address, Hex } from '../domain/records.ts'
import { SeededRandom } from '../support/random.ts'
import type { RpcClient } from './json-rpc/rpc-client.ts'
import { type ContractCall, call } from './markets/protocols/protocol.ts'
import type { ChainWriter } from './writing/chain-writer.ts'

/** Anvil's development accounts: the first owns the markets of chains that were made before a contract did. */
const DEV_MNEMONIC = 'test test test test test test test test test test test junk'

/** contracts/MarketOwner.sol */
const OWNER = parseAbi(['function execute(address target, bytes data)'])
/** Where the contract keeps its operator. */
const OPERATOR = pad('0x0')
/** What the contract takes for itself and for its call's data, and more than the part of the gas that a call is not given. */
const OWN_GAS = 200_000n

const execute = call(OWNER, 'execute', OWN_GAS)

/** Whoever can make calls in the name of the markets' owner. */
export interface Ruler {
  owner: Address
  signer: LocalAccount
  /** The transaction that has the owner make a call. */
  ordered(call: ContractCall): ContractCall
}

export interface RulerDeps {
  rpc: RpcClient
  writer: ChainWriter
  /** Draws the private key that governs the markets for a moment; default: one that nobody can guess. */
  governingKey?: () => Hex
}

/**
 * Lends somebody the say over an embedded chain's tokens and markets; call while nobody else changes the chain. The key is
 * drawn for what is done now and forgotten with it: it is written nowhere, and what it signed is good for nothing on a chain
 * that was reset or copied. The chain is told whose it is by a change of its storage, which no transaction can make.
 */
export async function marketRuler({ rpc, writer, governingKey = SeededRandom.secretKey }: RulerDeps): Promise<Ruler> {
  if ((await rpc.call<Hex>('eth_getCode', MARKET_OWNER, 'latest')) === '0x') return formerRuler()
  const signer = privateKeyToAccount(governingKey())
  await writer.cheat([['anvil_setStorageAt', MARKET_OWNER, OPERATOR, pad(signer.address)]])
  return { owner: MARKET_OWNER, signer, ordered: byOwner }
}

function byOwner({ to, data, gas }: ContractCall): ContractCall {
  return { ...execute(MARKET_OWNER, to, data), gas: gas + OWN_GAS }
}

let developer: LocalAccount | undefined

function formerRuler(): Ruler {
  developer ??= mnemonicToAccount(DEV_MNEMONIC) // derived on first use: it takes a while
  return { owner: developer.address, signer: developer, ordered: (its) => its }
}
