import type { Abi, ContractFunctionArgs, ContractFunctionName, ContractFunctionReturnType } from 'viem'
import { decodeFunctionResult, encodeFunctionData, numberToHex } from 'viem/utils'
import type { Address, Hex } from '../domain/records.ts'
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

type View = 'view' | 'pure'

/** A typed view of a contract. */
export function read<const abi extends Abi, name extends ContractFunctionName<abi, View>>(
  to: Address,
  abi: abi,
  name: name,
  args: ContractFunctionArgs<abi, View, name>,
): Read<ContractFunctionReturnType<abi, View, name>>
export function read(to: Address, abi: Abi, functionName: string, args: readonly unknown[]): Read<unknown> {
  return {
    to,
    data: encodeFunctionData({ abi, functionName, args }),
    decode: (data) => decodeFunctionResult({ abi, functionName, data }),
  }
}

/**
 * The call that evaluates a view on the latest state as if a block of that time (Unix seconds) were under way: interest
 * comes out exactly as in a block mined at that timestamp, and nothing need be mined.
 */
export function readCall({ to, data }: Read<unknown>, timestamp: number): Call {
  return ['eth_call', { to, data }, 'latest', {}, { time: numberToHex(timestamp) }]
}
