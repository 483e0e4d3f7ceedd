import type { Abi, ContractFunctionArgs, ContractFunctionName, ContractFunctionReturnType } from 'viem'
import { decodeFunctionResult, encodeFunctionData, getAbiItem, toFunctionSelector } from 'viem/utils'
import type { Address, Hex } from '../../domain/records.ts'

/** A call of a contract's view, and the decoder of its answer. */
export interface Read<Result> {
  to: Address
  data: Hex
  /** Seconds after the chain's present at which to read it; default 0. */
  ahead?: number
  decode(output: Hex): Result
}

/** Evaluates views in one round trip, all at one moment: interest is exactly that of a block mined at that moment. */
export type Reader = <const Reads extends readonly Read<unknown>[]>(reads: Reads) => Promise<ViewResults<Reads>>

/** The results of a list of views. */
export type ViewResults<Reads extends readonly Read<unknown>[]> = {
  -readonly [Index in keyof Reads]: Reads[Index] extends Read<infer Result> ? Result : never
}

/** Makes a typed view that can be called on any contract with the interface. */
export function view<const abi extends Abi, name extends ContractFunctionName<abi, 'view'>>(
  abi: abi,
  name: name,
): (to: Address, ...args: Arguments<abi, 'view', name>) => Read<ContractFunctionReturnType<abi, 'view', name>>
export function view(abi: Abi, functionName: string): (to: Address, ...args: readonly unknown[]) => Read<unknown> {
  const encode = functionEncoder(abi, functionName)
  const decode = (data: Hex) => decodeFunctionResult({ abi, functionName, data })
  return (to, ...args) => ({ to, data: encode(args), decode })
}

/** Makes the same read so many seconds later, assuming that nothing happens until then. */
export function later<Result>(read: Read<Result>, seconds: number): Read<Result> {
  return { ...read, ahead: seconds }
}

/** The types of the arguments of a function in an interface. */
export type Arguments<abi extends Abi, mutability extends 'view' | 'nonpayable', name extends string> = Extract<
  ContractFunctionArgs<abi, mutability, Extract<name, ContractFunctionName<abi, mutability>>>,
  readonly unknown[]
>

/** Makes an encoder of calls of one function. It hashes the selector only once: doing so per call was a tenth of a transfer's cost. */
export function functionEncoder(abi: Abi, name: string): (args: readonly unknown[]) => Hex {
  const item = getAbiItem({ abi, name })
  if (item?.type !== 'function') throw new Error(`the interface has no function ${name}`)
  let selector: Hex | undefined // hashed at first use: not every view is called
  return (args) => {
    selector ??= toFunctionSelector(item)
    return encodeFunctionData({ abi: [item], functionName: selector, args })
  }
}
