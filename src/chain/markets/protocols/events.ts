import { hexToBigInt, size, sliceHex, toEventSelector } from 'viem/utils'
import type { Address } from '../../../domain/records.ts'
import { SenselessAnswerError } from '../../json-rpc/rpc-client.ts'
import type { Log } from './protocol.ts'

/** Bytes. */
const WORD = 32

/**
 * A reader of an event's arguments that are not indexed, by the names given to them, in the first such event a contract
 * emitted. `signature` names the types of all arguments; those that are not indexed must be a word each, and are read as
 * numbers. The reader throws when there is no such event, or it has not so many.
 */
export function event<const name extends string>(
  signature: string,
  names: readonly name[],
): (logs: readonly Log[], emitter: Address) => Record<name, bigint> {
  const selector = toEventSelector(signature)
  return (logs, emitter) => {
    const log = logs.find(({ address, topics }) => topics[0] === selector && sameAddress(address, emitter))
    if (!log || size(log.data) !== names.length * WORD) {
      throw new SenselessAnswerError(`the transaction emitted no ${signature} of ${emitter}`)
    }
    const words = names.map((name, i) => [name, hexToBigInt(sliceHex(log.data, i * WORD, (i + 1) * WORD))])
    return Object.fromEntries(words) as Record<name, bigint>
  }
}

function sameAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
