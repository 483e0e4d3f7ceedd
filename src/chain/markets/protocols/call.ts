import type { Abi, ContractFunctionName } from 'viem'
import type { Address } from '../../../domain/records.ts'
import { type Arguments, functionEncoder } from '../../reading/function-encoder.ts'
import type { ContractCall } from './protocol.ts'

/** A typed state-changing function of any contract of an interface, with a fixed gas limit. */
export function call<const abi extends Abi, name extends ContractFunctionName<abi, 'nonpayable'>>(
  abi: abi,
  name: name,
  gas: bigint,
): (to: Address, ...args: Arguments<abi, 'nonpayable', name>) => ContractCall {
  const encode = functionEncoder(abi, name)
  return (to, ...args) => ({ to, gas, data: encode(args) })
}
