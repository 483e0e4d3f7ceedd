import { numberToHex } from 'viem/utils'
import type { WalletFunding } from '../../domain/ports/chain.ts'
import type { Address } from '../../domain/records.ts'
import type { RpcCall } from '../json-rpc/rpc-client.ts'

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
