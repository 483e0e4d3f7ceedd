import type { Abi, ContractEventName } from 'viem'
import { type DecodeEventLogReturnType, decodeEventLog, toEventSelector } from 'viem/utils'
import type { Address } from '../../domain/records.ts'
import type { Log } from './protocol.ts'

/** Arguments of the first event of that name that the contract emitted; throws when there is none. */
export function eventOf<const abi extends Abi, name extends ContractEventName<abi>>(
  logs: readonly Log[],
  emitter: Address,
  abi: abi,
  name: name,
): DecodeEventLogReturnType<abi, name>['args']
export function eventOf(logs: readonly Log[], emitter: Address, abi: Abi, eventName: string): unknown {
  const event = abi.find((item) => item.type === 'event' && item.name === eventName)
  const selector = event?.type === 'event' ? toEventSelector(event) : undefined
  const log = logs.find(({ address, topics }) => topics[0] === selector && sameAddress(address, emitter))
  if (!log) throw new Error(`the transaction emitted no ${eventName} event of ${emitter}`)
  return decodeEventLog({ abi, eventName, topics: log.topics, data: log.data }).args
}

function sameAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
