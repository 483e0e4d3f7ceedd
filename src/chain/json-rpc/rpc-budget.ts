import { RpcError } from './rpc-client.ts'

// What others may ask of a chain, wherever they are. docs/architecture.md has these as a table.

/** Calls in one batch. */
export const BATCH_CALLS = 1_000
/** Milliseconds until a batch must be answered: what has not begun by then is refused. */
export const BATCH_TIME = 30_000
/**
 * Milliseconds until a call must be answered, its waiting for a turn included. Clients count five seconds as a hang; the
 * answer has to reach them before.
 */
export const CALL_TIME = 4_000
/** Bytes in the answer to one request, all calls of a batch together. */
export const ANSWER_BYTES = 25_000_000
/** Gas of a call that changes nothing; of all calls of a simulation together. */
export const CALL_GAS = 50_000_000
/** Gas of a traced call: the work of a trace grows with the square of the calls in it. */
export const TRACE_GAS = 1_000_000
/**
 * Gas that a mined transaction may have used whose calls are traced: with nothing but calls, these took 3 s on two cores,
 * and four times as much gas a minute and most of the memory.
 */
export const TRACED_GAS = 4_000_000
/** Accounts and slots of the chain that a call may be the first to read. */
export const CALL_FETCHES = 5_000
/** Gas of a transaction (EIP-7825), and of all that others have in the pool: blocks must leave room for transfers. */
export const TRANSACTION_GAS = 2 ** 24
/** Bytes of a signed transaction, as geth takes one with blobs. */
export const TRANSACTION_BYTES = 1024 * 1024
/** Blocks that one call may mine: transfers wait meanwhile. */
export const MINED_BLOCKS = 1_000
/** Blocks of a fee history. */
export const FEE_BLOCKS = 1_024
/** Blocks in the range of a filter for logs. */
export const LOG_BLOCKS = 10_000
/** Logs in one answer: about as many as {@link ANSWER_BYTES} hold. */
export const LOGS = 50_000
/** Filters at a time. */
export const FILTERS = 256
/** Milliseconds after which a filter that nobody asked is removed. */
export const FILTER_LIFE = 300_000

/** EIP-1474: a request exceeds a limit. */
const LIMIT_EXCEEDED = -32005

/** The error of a call that costs more than it may. */
export function overBudget(method: string, reason: string): RpcError {
  return new RpcError(method, LIMIT_EXCEEDED, reason)
}

/** The error of a call that was given up. */
export function noAnswer(method: string): RpcError {
  return overBudget(method, `no answer within ${CALL_TIME / 1_000} s, the limit of a call`)
}

/** The error of a call whose parameters make no sense. */
export function invalidParams(method: string, reason: string): RpcError {
  return new RpcError(method, -32602, `Invalid params: ${reason}`)
}
