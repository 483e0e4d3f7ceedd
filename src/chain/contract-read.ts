import type { Abi, ContractFunctionName, ContractFunctionReturnType } from 'viem'
import { decodeFunctionResult, numberToHex } from 'viem/utils'
import type { Address, Hex } from '../domain/records.ts'
import { type Arguments, functionEncoder } from './function-encoder.ts'
import type { Call } from './rpc.ts'

/** A view to be called on a contract, and how to read its answer. */
export interface Read<Result> {
  to: Address
  data: Hex
  decode(output: Hex): Result
}

/** Evaluates views in one round trip, all at one moment. */
export type Reader = <const Reads extends readonly Read<unknown>[]>(reads: Reads) => Promise<Answers<Reads>>

/** The results of a list of views. */
export type Answers<Reads extends readonly Read<unknown>[]> = {
  -readonly [Index in keyof Reads]: Reads[Index] extends Read<infer Result> ? Result : never
}

/** A typed view of any contract of an interface. */
export function view<const abi extends Abi, name extends ContractFunctionName<abi, 'view'>>(
  abi: abi,
  name: name,
): (to: Address, ...args: Arguments<abi, 'view', name>) => Read<ContractFunctionReturnType<abi, 'view', name>>
export function view(abi: Abi, functionName: string): (to: Address, ...args: readonly unknown[]) => Read<unknown> {
  const encode = functionEncoder(abi, functionName)
  const decode = (data: Hex) => decodeFunctionResult({ abi, functionName, data })
  return (to, ...args) => ({ to, data: encode(args), decode })
}

/**
 * The call that evaluates a view on the latest state as if a block of that time (Unix seconds) were under way: interest
 * comes out exactly as in a block mined at that timestamp, and nothing need be mined.
 */
export function readCall({ to, data }: Read<unknown>, timestamp: number): Call {
  return ['eth_call', { to, data }, 'latest', {}, { time: numberToHex(timestamp) }]
}
