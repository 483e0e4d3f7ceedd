import type { AbiParameter } from 'viem'
import { type DecodeAbiParametersReturnType, decodeAbiParameters, toEventSelector } from 'viem/utils'
import type { Address } from '../../domain/records.ts'
import type { Log } from './protocol.ts'

/**
 * A reader of an event's arguments that are not indexed, in the first such event a contract emitted. `signature` names all
 * argument types, `data` those not indexed. The reader throws when there is no such event.
 */
export function event<const data extends readonly AbiParameter[]>(
  signature: string,
  data: data,
): (logs: readonly Log[], emitter: Address) => DecodeAbiParametersReturnType<data> {
  const selector = toEventSelector(signature)
  return (logs, emitter) => {
    const log = logs.find(({ address, topics }) => topics[0] === selector && sameAddress(address, emitter))
    if (!log) throw new Error(`the transaction emitted no ${signature} of ${emitter}`)
    return decodeAbiParameters(data, log.data)
  }
}

function sameAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
