import type { Chain } from '../domain/ports/chain.ts'
import type { ChainReceipt, ChainTransaction, ChainWords } from '../domain/ports/chain-words.ts'
import { oneLine } from '../support/foreign-text.ts'
import { chainAnswers } from './chain-calls.ts'

/** Most characters of a reason. */
const LONGEST = 200

/** Share of its gas from which on a transaction without a reason ran out of gas: a call that it makes is never given all. */
const NEARLY_ALL = 0.9

/** A transaction that failed. */
interface Failed {
  transaction: ChainTransaction
  receipt?: ChainReceipt | undefined
}

/**
 * Finds out why a transaction failed, by what the node's trace says that it returned, or by its gas. Null if nobody knows any more: a node
 * has traces of its last blocks only. Throws ChainUnavailableError.
 */
export async function revertReason(
  chain: Chain,
  { transaction: { hash, gas }, receipt }: Failed,
  words: ChainWords,
): Promise<string | null> {
  const [trace] = await chainAnswers<{ output?: string; error?: string }>(chain, [
    ['debug_traceTransaction', hash, { tracer: 'callTracer', tracerConfig: { onlyTopCall: true } }],
  ])
  const reason = trace?.output === undefined ? undefined : words.reasonIn(trace.output)
  if (reason !== undefined) return reason
  if (receipt && Number(receipt.gasUsed) > Number(gas) * NEARLY_ALL) return 'it ran out of gas'
  return trace?.error ? oneLine(trace.error, LONGEST) : null
}
