import type { FaultRule } from '../faults/fault-rule.ts'
import type { OperationOutcome } from '../oracle/outcome.ts'
import type { ExplainedExchange } from '../traffic/explain-exchange.ts'
import type { Moment } from '../traffic/recorded-exchange.ts'
import type { ReportedFinding } from '../verdict/report.ts'

/** How grave something is for a reader: `bad` (money is wrong, or a rule is broken), `warn`, `ok`, or nothing to notice (`plain`). */
export type Tone = 'bad' | 'warn' | 'ok' | 'plain'

/** Kinds of a mark on the strip of an operation. */
export const MARK_KINDS = [
  'request',
  'retry',
  'signed',
  'block',
  'reverted',
  'lost',
  'answered',
  'refused',
  'replayed',
  'waiting',
] as const

/** One mark of a strip: a request, what it caused, and what its client got. */
export interface Mark {
  /**
   * `request`, `retry` (any later request), `signed`, `block` (mined with success), `reverted` (mined, and failed), `lost` (no answer
   * reached the client), `answered`, `refused` (an error answer), `replayed` (the kept answer of the same key), `waiting` (not over yet).
   */
  kind: (typeof MARK_KINDS)[number]
  tone: Tone
  /** For screen readers, such as "block 14, +250.00 USDC". */
  label: string
}

/**
 * One row of `GET /_sandbox/operations`: a logical operation of a client, that is, all requests under one Idempotency-Key, or one request
 * that has none. Requests under another key that moved the same money again belong to the row of the first key.
 */
export interface OperationRow {
  /** Number of its first request since the last reset, from 1: its name in links. */
  number: number
  /** Operation of the service; null for a path that the service does not have. */
  operation: string | null
  /** True if it moves money or makes what holds money: a deposit, a withdrawal, a portfolio. */
  moves_money: boolean
  tenant: string | null
  external_id: string | null
  portfolio_id: string | null
  /** Null where none is known. */
  portfolio_name: string | null
  pool_id: string | null
  /** Minor units, a digit string; null if no request shows it. */
  amount_minor: string | null
  token_symbol: string | null
  token_decimals: number | null
  /** Its Idempotency-Keys as sent, the first one first. */
  keys: string[]
  marks: Mark[]
  /** Two words or three: `Done`, `Paid twice`, `Refused`, `Retried, paid once`. */
  outcome: string
  tone: Tone
  /** Ids of the outcomes of the oracle; empty for what moves no money, and until it is judged. */
  outcomes: OperationOutcome['outcome'][]
  /** One sentence: the event. */
  sentence: string
  /** Broken rules (and those that need review) that name one of its requests. */
  finding_ids: string[]
  /** Kinds of the faults that struck it. */
  faults: string[]
  /** Status of its last answer; null for none. */
  status: number | null
  /** Error code of its last answer; null for none. */
  code: string | null
  /** Begin of its first request. */
  began: Moment
  /** Ids of its requests, oldest first. */
  request_ids: string[]
}

/** One step of an attempt, in the order in which they happened. */
export interface AttemptStep {
  step:
    | 'request'
    | 'claimed'
    | 'signed'
    | 'broadcast'
    | 'mined'
    | 'settled'
    | 'answered'
    | 'refused'
    | 'replayed'
    | 'lost'
    | 'waiting'
  /** ISO 8601 UTC, wall-clock time; null if it was not noted. */
  at: string | null
  tone: Tone
  /** A few words: `Block 14`, `Answer lost`. */
  title: string
  /** `+250.00 USDC`, `reset after 26 ms`; null for nothing to add. */
  detail: string | null
  tx_hash: string | null
  block_number: number | null
}

/** One request of an operation, with what came before it. */
export interface OperationAttempt {
  exchange: ExplainedExchange
  steps: AttemptStep[]
  /** Milliseconds of real time since the end of the attempt before; null for the first. */
  waited_ms: number | null
  /** True if its Idempotency-Key is that of the attempt before; null for the first, and where one of the two has none. */
  same_key: boolean | null
}

/** Money of a portfolio, its principal, before and after an operation, in minor units. */
export interface OperationMoney {
  portfolio_id: string
  token_symbol: string
  token_decimals: number
  before: string
  /** What the client asked for, carried out once. */
  expected: string
  after: string
}

/** How an operation can be done again, by its last request. */
export interface OperationAgain {
  /** Why nobody can sign it again; null if tokens of its tenant and end user are all that it needs. */
  obstacle: string | null
  /** Path and query. */
  path: string
  /** Headers of the request without tokens, key and what its connection brought along. */
  headers: [name: string, value: string][]
  /** A command for a POSIX shell, which mints its tokens first; it takes the token of the control interface from `CONTROL_TOKEN`. */
  curl: string
  /** Lets the fault that struck it, or else the loss of an answer, strike the next operation of its kind and end user. */
  fault: FaultRule
  /** The same as a scenario file. */
  scenario: string
}

/** An operation as the overview knows it. */
export interface JudgedDetail extends OperationRow {
  attempts: OperationAttempt[]
  /** Null for what moves no money. */
  money: OperationMoney | null
  /** Broken rules that name one of its requests, the gravest first. */
  findings: ReportedFinding[]
}

/** `GET /_sandbox/operations/{number}` */
export interface OperationDetail extends JudgedDetail {
  again: OperationAgain
}

/** One sentence on the money of everybody, for the top of every view. */
export interface Headline {
  tone: Tone
  /** "250.00 USDC moved twice.", "Money is right." */
  sentence: string
  /** The operation that it speaks of; null for none. */
  operation_number: number | null
  /** "bob's deposit" */
  operation_title: string | null
  /** Number of further operations that are as grave. */
  more: number
  /** Rules kept, broken, and not tested or open. */
  proved: number
  contradicted: number
  unproved: number
}

/** `GET /_sandbox/operations` */
export interface OperationPage {
  /** Newest first. */
  operations: OperationRow[]
  /** Value of `before` for the next page; null at the end. */
  next_before: number | null
  /** Number of operations on record. */
  total: number
  /** Exchanges that were recorded and forgotten. */
  forgotten: number
  headline: Headline
  /** False while a judgement of the newest requests is to come: outcomes are provisional then, and their final ones come as events. */
  judged: boolean
  /** Id of the last event that this page has: the stream goes on from it by `Last-Event-ID`. */
  event_id: string
}

/** Events of `GET /_sandbox/events`, by the name in their `event` field; `data` is JSON. */
export interface InspectorEvents {
  /** The first event of every stream: nothing between page and sandbox holds it back. */
  hello: Record<string, never>
  /**
   * New and changed rows, newest first, at most 100; `more` is the number of those left out. `gone`: numbers of rows that are part of
   * another row now.
   */
  operations: { operations: OperationRow[]; more: number; gone: number[]; total: number }
  headline: Headline
  /**
   * Rows are gone: all of them by a reset or by `DELETE requests` (both numbers are null). For want of room those below `oldest`; a row
   * that moves money stays longer, and is gone below `oldest_money`.
   */
  forgotten: { oldest: number | null; oldest_money: number | null; reason: 'reset' | 'deleted' | 'room' }
  clock: { now: string; frozen: boolean; offset_seconds: number }
  /** The rules in force changed, or one struck. */
  faults: Record<string, never>
  /** A chain has a new block. */
  block: { chain_id: string; number: number }
  /** A namespace was made or deleted, or something failed in one. */
  namespaces: Record<string, never>
  /** The stream cannot go on from `Last-Event-ID`: everything must be read anew. */
  anew: Record<string, never>
  /** The last event of a stream: its namespace was deleted, or the sandbox stops. */
  ended: { reason: 'deleted' | 'stopping' }
}

/** One event, as `GET /_sandbox/events?poll=1` shows it. */
export type InspectorEvent = {
  [Name in keyof InspectorEvents]: { event: Name; data: InspectorEvents[Name] }
}[keyof InspectorEvents]

/** `GET /_sandbox/events?poll=1` */
export interface InspectorPoll {
  /** Value of `last_event_id` for the next poll. */
  event_id: string
  /** Events since `last_event_id`, oldest first. */
  events: InspectorEvent[]
}

/** One end user of `GET /_sandbox/money`. Amounts in minor units, digit strings; those of a chain that cannot be reached are null. */
export interface EndUserMoney {
  tenant: string
  external_id: string
  wallet_address: string
  balances: {
    chain_id: string
    token_symbol: string
    token_decimals: number
    token_address: string
    amount_minor: string | null
  }[]
  portfolios: {
    portfolio_id: string
    name: string
    pool_id: string
    chain_id: string
    token_symbol: string
    token_decimals: number
    principal_minor: string
    /** All that it has earned, what withdrawals have paid out included. */
    yield_minor: string | null
    balance_minor: string | null
    /** Decimal fraction: `"0.0412"` is 4.12 %. */
    apy: string | null
    /**
     * Business time, principal and yield then; oldest first. It begins where the portfolio was made. Every transfer has two points,
     * before and after, of one time and one yield. The last point is the present, if the chain can be reached.
     */
    series: MoneyPoint[]
  }[]
  /** Per token: portfolios and wallets together. */
  totals: {
    token_symbol: string
    token_decimals: number
    principal_minor: string
    yield_minor: string | null
    wallet_minor: string | null
  }[]
  /**
   * Per token: the money in the end user's portfolios beyond what the client asked for (negative: too little), and the operations that
   * moved it. Tokens for which there is none are left out.
   */
  surplus: { token_symbol: string; token_decimals: number; amount_minor: string; operation_numbers: number[] }[]
}

/** Principal and yield of a portfolio at one moment, in minor units. */
export interface MoneyPoint {
  /** ISO 8601 UTC, business time. */
  at: string
  principal_minor: string
  yield_minor: string
  /** The operation whose transfer this point precedes or follows; null for others, and where no request is on record. */
  operation_number: number | null
}

/** `GET /_sandbox/money` */
export interface MoneyOverview {
  /** Business time. */
  at: string
  /** In the order in which they were made, tenant by tenant. */
  end_users: EndUserMoney[]
  /** Number of further end users that match. */
  more: number
  pools: {
    tenant: string
    pool_id: string
    protocol: string
    chain_id: string
    token_symbol: string
    token_decimals: number
    market_address: string
    apy: string | null
    tvl_usd: string | null
    /** Tokens that can be withdrawn now, in minor units; null if the market does not show it. */
    liquidity_minor: string | null
  }[]
  /** The audit: number of its checks, and of those that hold; null if it was not asked for, or a chain cannot be reached. */
  checks: { held: number; all: number } | null
  /** Chains that cannot be reached, with the reason. */
  unavailable: { chain_id: string; reason: string }[]
}

/** What `GET /_sandbox/money` is to show. */
export interface MoneySelection {
  /** Slug. */
  tenant?: string | undefined
  external_id?: string | undefined
  /** Most end users. */
  limit: number
  /** Most points of a series. */
  points: number
  /** False to leave the audit out. */
  checks: boolean
}

/** Query of `GET /_sandbox/money`; the server has defaults for what is left out. */
export type MoneyQuery = Partial<MoneySelection>

/** One transaction of `GET /_sandbox/transactions`, in words. */
export interface TransactionRow {
  chain_id: string
  tx_hash: string
  /** "Supply 1,000.00 USDC to Aave for alice." */
  sentence: string
  /** `pending`: signed, and not mined yet. */
  status: 'success' | 'reverted' | 'pending'
  block_number: number | null
  /** Business time of its block; null while pending. */
  at: string | null
  /** The operation that caused it; null for set-up and for what others sent. */
  operation_number: number | null
  /** Whose wallet sent it; null for others. */
  tenant: string | null
  external_id: string | null
}

/** `GET /_sandbox/transactions`: transactions of one chain. */
export interface TransactionPage {
  chain_id: string
  /** Those that are pending, then the newest block first; within a block the last one first. */
  transactions: TransactionRow[]
  /** Value of `before` for the next page: the block, or the place in a block, from which it goes down; null at the end. */
  next_before: string | null
  /** Last block of every chain. A chain at rest is not woken for it. */
  chains: { chain_id: string; block_number: number; at: string }[]
  /** Why the chain cannot be read at present; null if it can. */
  unavailable: string | null
}

/** What a page of `GET /_sandbox/transactions` is to show. */
export interface TransactionSelection {
  /** Default: the first chain. */
  chain_id?: string | undefined
  /** `15`: below this block. `15.3`: below this place in that block. Default: everything. */
  before?: string | undefined
  limit: number
}

/** Query of `GET /_sandbox/transactions`; the server has a default for the limit. */
export type TransactionQuery = Partial<TransactionSelection>

/** `GET /_sandbox/transactions/{hash}` */
export interface TransactionDetail extends TransactionRow {
  from: string
  to: string | null
  nonce: number
  gas_used: number | null
  gas_limit: number
  /** The call: name of the function and its arguments in words; null for an unknown one. */
  call: string | null
  /** Input data as sent, hexadecimal; of more than 64 KiB the beginning. */
  input: string
  /** Null for none, and where nobody knows any more. */
  revert_reason: string | null
  events: { sentence: string; name: string | null; contract: string; address: string }[]
  /** Ids of the requests of its operation. */
  request_ids: string[]
}

/** One kind of `GET /_sandbox/fault_kinds`. */
export interface FaultKindDescription {
  kind: string
  /** One sentence: what goes wrong with default parameters. */
  explanation: string
  /** Where it belongs in a list: `connection`, `answer`, `chain`, `tokens`, `lists`. */
  group: string
  phases: string[]
  /** Operations that it can strike. */
  operations: string[]
  /** JSON Schema of `with`. */
  with: Record<string, unknown>
}
