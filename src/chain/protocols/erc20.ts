import { parseAbi } from 'viem/utils'
import type { Address } from '../../domain/records.ts'
import { type Read, read } from '../contract-read.ts'

const ERC20 = parseAbi(['function balanceOf(address owner) view returns (uint256)'])

/** An account's token balance in minor units. */
export function balanceOf(token: Address, owner: Address): Read<bigint> {
  return read(token, ERC20, 'balanceOf', [owner])
}
