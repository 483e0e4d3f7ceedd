import { decodeErrorResult, decodeEventLog, decodeFunctionData, numberToHex, parseTransaction } from 'viem/utils'
import type {
  ChainLog,
  ChainReceipt,
  ChainTransaction,
  ChainWords,
  KnownAddresses,
  WordedTransaction,
} from '../../domain/ports/chain-words.ts'
import type { Address, Hex } from '../../domain/records.ts'
import { oneLine } from '../../support/foreign-text.ts'
import { amountInWords } from '../../support/quantities.ts'
import { Names } from './names.ts'
import { AAVE_MESSAGES, KNOWN_CALLS, KNOWN_ERRORS, KNOWN_EVENTS } from './vocabulary.ts'
import { type Decoded, Wording, type WordingContext } from './wording.ts'

/** Most characters of a reason for a revert, which a contract may choose. */
const LONGEST_REASON = 200
/** Calls that carry calls: deeper ones are not looked into. */
const DEPTH = 3
const COIN_DECIMALS = 18

/** Words for transactions by the interfaces that the protocols know. */
export const chainWords: ChainWords = { describe: describeTransaction, reasonIn, parse: parseSigned }

function describeTransaction(
  transaction: ChainTransaction,
  receipt: ChainReceipt | undefined,
  known: KnownAddresses,
): WordedTransaction {
  const logs = receipt?.logs ?? []
  const names = withReceiptToken(new Names(known), logs)
  const context: WordingContext = {
    names,
    sender: transaction.from,
    paidOut: paidOutIn(logs, names),
    inner: (target, data) => sentenceOfCall({ to: target as Address, input: data }, context, 1),
  }
  return {
    sentence: `${sentenceOfTransaction(transaction, context)}.`,
    call: callInWords(transaction, context),
    events: logs.map((log) => eventInWords(log, context)),
  }
}

type Call = Pick<ChainTransaction, 'to' | 'input'>

function sentenceOfTransaction(transaction: ChainTransaction, context: WordingContext): string {
  const { from, to, input, value } = transaction
  const { names } = context
  if (to === null) return `${names.of(from)} makes a contract`
  if (input !== '0x') return sentenceOfCall(transaction, context, 0)
  return `Send ${amountInWords(BigInt(value), COIN_DECIMALS)} of the chain's coin from ${names.of(from)} to ${names.of(to)}`
}

function sentenceOfCall(call: Call, context: WordingContext, depth: number): string {
  const { names } = context
  const known = depth < DEPTH ? knownCall(call) : undefined
  if (!known) return `Call ${call.input.slice(0, 10)} of ${names.of(call.to ?? '0x')}`
  const inner: WordingContext['inner'] = (to, input) => sentenceOfCall({ to: to as Address, input }, context, depth + 1)
  return known.sentence(new Wording(known.decoded, { ...context, inner }))
}

function callInWords(call: Call, context: WordingContext): string | null {
  const known = knownCall(call)
  return known ? `${known.name}(${new Wording(known.decoded, context).all})` : null
}

/** A call or an event that is known, decoded. */
interface KnownItem {
  name: string
  decoded: Decoded
  sentence(wording: Wording): string
}

function knownCall({ to, input }: Call): KnownItem | undefined {
  const known = KNOWN_CALLS.get(input.slice(0, 10).toLowerCase())
  if (!known || to === null) return undefined
  const { item, sentence } = known
  try {
    const { args = [] } = decodeFunctionData({ abi: [item], data: input })
    const values = Object.fromEntries(item.inputs.map(({ name = '' }, i) => [name, (args as readonly unknown[])[i]]))
    return { name: item.name, sentence, decoded: { contract: to, inputs: item.inputs, values } }
  } catch {
    return undefined // other data than its interface has
  }
}

function knownEvent({ address, topics, data }: ChainLog): KnownItem | undefined {
  const known = KNOWN_EVENTS.get(topics[0]?.toLowerCase() ?? '')
  if (!known) return undefined
  const { item, sentence } = known
  if (topics.length !== 1 + item.inputs.filter(({ indexed }) => indexed === true).length) return undefined
  try {
    const { args } = decodeEventLog({ abi: [item], topics: topics as [Hex, ...Hex[]], data })
    const values = args as unknown as Record<string, unknown>
    return { name: item.name, sentence, decoded: { contract: address, inputs: item.inputs, values } }
  } catch {
    return undefined
  }
}

function eventInWords(log: ChainLog, context: WordingContext): WordedTransaction['events'][number] {
  const { address, topics } = log
  const contract = context.names.of(address)
  const known = knownEvent(log)
  if (known) {
    return { sentence: `${known.sentence(new Wording(known.decoded, context))}.`, name: known.name, contract, address }
  }
  const topic = topics[0]
  const sentence =
    topic === undefined
      ? `${contract} emitted an event without a name.`
      : `${contract} emitted ${topic}, which is unknown.`
  return { sentence, name: null, contract, address }
}

/** Names of the events that say what a withdrawal paid out, with the argument. */
const PAID_OUT: readonly (readonly [event: string, argument: string])[] = [
  ['Withdraw', 'amount'],
  ['Withdraw', 'assets'],
]

function paidOutIn(logs: readonly ChainLog[], names: Names): string | undefined {
  for (const log of logs) {
    const known = names.isMarket(log.address) ? knownEvent(log) : undefined
    for (const [event, argument] of PAID_OUT) {
      if (known?.name !== event || known.decoded.values[argument] === undefined) continue
      return new Wording(known.decoded, { names, sender: '0x', inner: () => '' }).amount(argument)
    }
  }
  return undefined
}

/**
 * Finds the token that Aave gives for what is supplied: it books, while a market that is known changes its rate, and the token that it
 * stands for moves to it or from it.
 */
function withReceiptToken(names: Names, logs: readonly ChainLog[]): Names {
  const events = logs.flatMap((log) => knownEvent(log) ?? [])
  const isAave = events.some(({ name, decoded }) => name === 'ReserveDataUpdated' && names.isMarket(decoded.contract))
  const booking = events.find(({ name }) => name === 'Mint' || name === 'Burn')
  if (!isAave || !booking || names.token(booking.decoded.contract)) return names
  const { contract } = booking.decoded
  const same = (value: unknown) => String(value).toLowerCase() === contract.toLowerCase()
  const moved = events.find(
    ({ name, decoded: { values, contract: emitter } }) =>
      name === 'Transfer' && names.token(emitter) !== undefined && (same(values.from) || same(values.to)),
  )
  const token = moved && names.token(moved.decoded.contract)
  return token ? names.withToken({ ...token, address: contract as Address, symbol: `a${token.symbol}` }) : names
}

function reasonIn(data: string): string | undefined {
  if (!/^0x([0-9a-f]{2}){4,}$/i.test(data)) return undefined
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi: KNOWN_ERRORS, data: data as Hex }) as {
      errorName: string
      args?: readonly unknown[]
    }
    if (errorName !== 'Error') return oneLine(`${errorName}(${args.map(String).join(', ')})`, LONGEST_REASON)
    const message = oneLine(String(args[0]), LONGEST_REASON)
    const meaning = AAVE_MESSAGES.get(message)
    return meaning === undefined ? message : `${message}: ${meaning}`
  } catch {
    return `an unknown error, ${data.slice(0, 10)}`
  }
}

function parseSigned(signed: Hex, sender: Address, hash: Hex): ChainTransaction {
  const { to, data, value = 0n, nonce = 0, gas = 0n } = parseTransaction(signed)
  return {
    ...{ hash, from: sender, to: to ?? null, input: data ?? '0x' },
    ...{ value: numberToHex(value), nonce: numberToHex(nonce), gas: numberToHex(gas), blockNumber: null },
  }
}
