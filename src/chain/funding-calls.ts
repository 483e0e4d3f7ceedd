import { numberToHex } from 'viem/utils'
import type { WalletFunding } from '../domain/ports/chain.ts'
import type { Address } from '../domain/records.ts'
import type { Call } from './rpc.ts'

/** The greatest allowance a wallet can give. */
const UNLIMITED = numberToHex(2n ** 256n - 1n)

/** Anvil's call that makes an account hold exactly so much of a token, in minor units. */
export function dealing(account: Address, token: Address, amount: bigint): Call {
  return ['anvil_dealERC20', account, token, numberToHex(amount)]
}

/** Anvil's calls that give a wallet its tokens and let the markets take them. */
export function fundingCalls(wallet: Address, funding: readonly WalletFunding[]): Call[] {
  return funding.flatMap(({ token_address, amount, spenders }): Call[] => [
    dealing(wallet, token_address, amount),
    ...spenders.map((spender): Call => ['anvil_setERC20Allowance', wallet, spender, token_address, UNLIMITED]),
  ])
}
