import { concatHex, numberToHex, pad, size } from 'viem/utils'
import type { Address, Hex } from '../../domain/records.ts'
import { breathe } from '../../support/breathe.ts'
import { type RpcCall, RpcError } from '../json-rpc/rpc-client.ts'

/** A call of a contract's view. */
export interface View {
  to: Address
  data: Hex
}

/** The outcome of a view: its return data or its error. */
export type ViewOutcome = Hex | RpcError

/** Limit on the views in one call, which share its gas. */
export const MOST_VIEWS = 256

/** Address of the code during the call: nobody has the key to it. */
const ADDRESS = '0x00000000000000000000006d756c746963616c6c'

/**
 * EVM code that makes the calls in its input and returns the outcome of each. An input entry is the address and the length of
 * the data (a word each), then the data; an output entry is success and length (a word each), then the return data. Each view
 * gets 3,000,000 gas, far more than any needs, so one that uses up all of it does not affect the others. Return data are cut to
 * 4,096 bytes, also far more than any view returns: a contract that was replaced from outside could return gigabytes. The stack
 * holds the offsets of the next output and the next entry; an entry's data are copied to the memory where its output will be.
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

/** Error code of a call that reverts. */
const REVERTED = 3
/** Number of hexadecimal digits of a word. */
const WORD = 64

/**
 * Makes one call that evaluates views on the latest state.
 * @param timestamp time in Unix seconds that the views see, as if a block of that time were being mined; default: the latest block's
 */
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

/** Decodes the output of a {@link multicall} of `count` views, in their order. */
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

/** Distinct questions that wait to be answered together. */
interface Batch<Question, Answer> {
  places: Map<string, number>
  questions: Question[]
  answers: Promise<Answer[]>
}

/** Gathers the questions of one turn of the event loop and has them answered together; equal questions are asked only once. */
export class BatchLoader<Question, Answer> {
  readonly #keyOf: (question: Question) => string
  readonly #answer: (questions: readonly Question[]) => Promise<Answer[]>
  #gathering: Batch<Question, Answer> | undefined

  /**
   * @param keyOf equal questions have the same key
   * @param answer returns the answers in the order of the questions
   */
  constructor(keyOf: (question: Question) => string, answer: (questions: readonly Question[]) => Promise<Answer[]>) {
    this.#keyOf = keyOf
    this.#answer = answer
  }

  /** Rejects as `answer` does, for all callers that share the batch. */
  async load(questions: readonly Question[]): Promise<Answer[]> {
    this.#gathering ??= this.#begin()
    const { places, questions: all, answers } = this.#gathering
    const own = questions.map((question) => {
      const key = this.#keyOf(question)
      const place = places.get(key) ?? all.push(question) - 1
      places.set(key, place)
      return place
    })
    const answered = await answers
    return own.map((place) => answered[place] as Answer)
  }

  #begin(): Batch<Question, Answer> {
    const questions: Question[] = []
    return { places: new Map(), questions, answers: this.#send(questions) }
  }

  async #send(questions: readonly Question[]): Promise<Answer[]> {
    await breathe()
    this.#gathering = undefined
    return this.#answer(questions)
  }
}
