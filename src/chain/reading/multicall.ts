import { concatHex, numberToHex, pad, size } from 'viem/utils'
import type { Address, Hex } from '../../domain/records.ts'
import { type RpcCall, RpcError } from '../json-rpc/rpc-client.ts'

/** A view of a contract, as it is called. */
export interface View {
  to: Address
  data: Hex
}

/** How a view ended: what it returned, or why it did not. */
export type ViewOutcome = Hex | RpcError

/** The most views in one call: together they must get along with the gas of one. */
export const MOST_VIEWS = 256

/** Where the code stands while it is called: an address that nobody has the key of. */
const ADDRESS = '0x00000000000000000000006d756c746963616c6c'

/**
 * EVM code that calls what its input lists, and returns how each call ended. An entry of its input is the address, the
 * length of the data (a word each) and the data; of its output success, length (a word each) and what was returned. Views
 * get 3,000,000 gas each, far more than any needs: one that uses up all of it leaves the others theirs. Of what they return
 * come 4,096 bytes each, as much more than any returns: of a contract that somebody replaced, it would be gigabytes. On the stack are
 * where the next output is written and the next entry is read; an entry's data wait in memory where its output will be.
 */
const CODE = `0x${[
  '60006000', //                   0  output = 0, entry = 0
  '5b368110600f57', //             4  next: if entry < calldatasize, go on at 15
  '506000f3', //                  11  return memory[0..output]
  '5b8060200135', //              15  length = calldata[entry + 32]
  '80826040018460400137', //      21  memory[output + 64..] = calldata[entry + 64..], so much of it
  '6000600082856040018535', //    31  of the call: address, data
  '622dc6c0fa8352', //            42  memory[output] = success of the call
  '6110003d8181119181189190910218', // 49  size = returndatasize, or 4096 if that is less
  '808460200152', //              64  memory[output + 32] = size
  '806000856040013e', //         70  memory[output + 64..] = returndata, so much of it
  '9101604001', //                78  entry += 64 + length
  '910160400190', //              83  output += 64 + size
  '600456', //                    89  go to next
].join('')}` as Hex

/** What a call answers that reverts. */
const REVERTED = 3
/** Digits of a word. */
const WORD = 64

/** One call that evaluates views on the latest state, as if a block of that time (Unix seconds) were under way, or at the latest block's. */
export function multicall(views: readonly View[], timestamp?: number): RpcCall {
  const entries = views.flatMap(({ to, data }) => [pad(to), numberToHex(size(data), { size: 32 }), data])
  return [
    'eth_call',
    { to: ADDRESS, data: concatHex(entries) },
    'latest',
    { [ADDRESS]: { code: CODE } },
    ...(timestamp === undefined ? [] : [{ time: numberToHex(timestamp) }]),
  ]
}

/** What the call's output says of so many views, in their order. */
export function outcomesOf(output: Hex, count: number): ViewOutcome[] {
  let at = 2
  return Array.from({ length: count }, () => {
    const success = output.slice(at, at + WORD).endsWith('1')
    const digits = 2 * Number.parseInt(output.slice(at + WORD, at + 2 * WORD), 16)
    const returned: Hex = `0x${output.slice(at + 2 * WORD, at + 2 * WORD + digits)}`
    at += 2 * WORD + digits
    return success ? returned : new RpcError('eth_call', REVERTED, 'execution reverted', returned)
  })
}
