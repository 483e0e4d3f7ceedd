import type { Abi, ContractFunctionArgs, ContractFunctionName } from 'viem'
import { encodeFunctionData, getAbiItem, toFunctionSelector } from 'viem/utils'
import type { Hex } from '../../domain/records.ts'

/** The arguments of a function of an interface. */
export type Arguments<abi extends Abi, mutability extends 'view' | 'nonpayable', name extends string> = Extract<
  ContractFunctionArgs<abi, mutability, Extract<name, ContractFunctionName<abi, mutability>>>,
  readonly unknown[]
>

/** Encodes calls of one function. Its selector is hashed once, here: hashing it per call was a tenth of a transfer's cost. */
export function functionEncoder(abi: Abi, name: string): (args: readonly unknown[]) => Hex {
  const item = getAbiItem({ abi, name })
  if (item?.type !== 'function') throw new Error(`the interface has no function ${name}`)
  const prepared = { abi: [item], functionName: toFunctionSelector(item) }
  return (args) => encodeFunctionData({ ...prepared, args })
}
