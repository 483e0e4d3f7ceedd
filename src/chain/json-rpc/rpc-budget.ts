import { RpcError } from './rpc-client.ts'

// Limits of the calls from outside to a chain, on loopback as elsewhere. docs/architecture.md has these as a table.

/** Number of calls in one batch. */
export const BATCH_CALLS = 1_000
/** Milliseconds until a batch must be answered: calls that have not begun by then are refused. */
export const BATCH_TIME = 30_000
/**
 * Milliseconds until a call must be answered, including the wait for its turn. Clients take five seconds for a hang; the
 * answer has to reach them before that.
 */
export const CALL_TIME = 4_000
/** Bytes in the answer to one request, all calls of a batch together. */
export const ANSWER_BYTES = 25_000_000
/** Gas of a call that changes nothing, or of all calls of a simulation together. */
export const CALL_GAS = 50_000_000
/** Gas of a traced call: the work of a trace grows with the square of the number of calls in it. */
export const TRACE_GAS = 1_000_000
/**
 * Gas that a mined transaction may have used if it is to be traced. Traces of such transactions that consist of calls alone took
 * 3 s on two cores; with four times as much gas, a minute and most of the memory.
 */
export const TRACED_GAS = 4_000_000
/** Number of accounts and slots that a call may be the first to read. */
export const CALL_FETCHES = 5_000
/** Gas of a transaction (EIP-7825), and of all transactions from outside in the pool: blocks must leave room for transfers. */
export const TRANSACTION_GAS = 2 ** 24
/** Bytes of a signed transaction: the limit of geth for one with blobs. */
export const TRANSACTION_BYTES = 1024 * 1024
/** Number of blocks that one call may mine: transfers wait meanwhile. */
export const MINED_BLOCKS = 1_000
/** Number of blocks in a fee history. */
export const FEE_BLOCKS = 1_024
/** Number of blocks in the range of a log filter. */
export const LOG_BLOCKS = 10_000
/** Number of logs in one answer: about as many as {@link ANSWER_BYTES} hold. */
export const LOGS = 50_000
/** Number of filters at a time. */
export const FILTERS = 256
/** Milliseconds after which a filter that nobody has read is removed. */
export const FILTER_LIFE = 300_000

/** EIP-1474: a request exceeds a limit. */
const LIMIT_EXCEEDED = -32005

/** Makes the error of a call that exceeds a limit. */
export function overBudget(method: string, reason: string): RpcError {
  return new RpcError(method, LIMIT_EXCEEDED, reason)
}

/** Makes the error of a call that was given up after {@link CALL_TIME}. */
export function noAnswer(method: string): RpcError {
  return overBudget(method, `no answer within ${CALL_TIME / 1_000} s, the limit of a call`)
}

/** Makes the error of a call with invalid parameters. */
export function invalidParams(method: string, reason: string): RpcError {
  return new RpcError(method, -32602, `Invalid params: ${reason}`)
}
