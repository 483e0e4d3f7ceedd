/** Severity of an outcome, the worst first. `inconclusive`: unknown. `none`: not judged. */
export const LEVELS = ['critical', 'serious', 'inconclusive', 'review', 'warning', 'note', 'none', 'ok'] as const

/** One of {@link LEVELS}. */
export type Level = (typeof LEVELS)[number]

/** How the command that the client is part of ended: with code 0, otherwise, or not in time. */
export type CommandEnding = 'well' | 'failed' | 'hung'

/**
 * Outcomes of an operation, by the ledger and by what its client was told: the rows of docs/oracle.md, in the order in which
 * they are shown, the worst first.
 */
export const OUTCOMES = {
  paid_twice: { level: 'critical', title: 'paid twice' },
  took_out_unpaid: { level: 'critical', title: 'took out what was never put in' },
  untold: { level: 'critical', title: 'carried out, and never told' },
  wrong_books: { level: 'critical', title: 'wrong in the books' },
  hung: { level: 'serious', title: 'hung' },
  paid_twice_put_right: { level: 'serious', title: 'paid twice, and put right' },
  made_twice: { level: 'serious', title: 'made twice' },
  forgotten: { level: 'inconclusive', title: 'forgotten' },
  not_known_yet: { level: 'inconclusive', title: 'not known yet' },
  contradiction: { level: 'inconclusive', title: 'the sandbox contradicts itself' },
  left_open: { level: 'review', title: 'left open' },
  perhaps_told: { level: 'review', title: 'perhaps told' },
  key_expired: { level: 'review', title: 'carried out again when its key had expired' },
  lucky: { level: 'review', title: 'lucky' },
  not_asked_for: { level: 'review', title: 'never asked for' },
  another_amount: { level: 'review', title: 'another amount' },
  key_again: { level: 'note', title: 'key used again after its answer' },
  equal_at_once: { level: 'note', title: 'two equal ones at once' },
  gave_up: { level: 'warning', title: 'gave up' },
  gave_up_looked: { level: 'warning', title: 'gave up after a look' },
  stopped: { level: 'warning', title: 'stopped before' },
  taken_back: { level: 'warning', title: 'taken back' },
  books_lag: { level: 'warning', title: 'still open in the books' },
  refused: { level: 'note', title: 'refused, and told' },
  put_off: { level: 'note', title: 'put off, and told' },
  misled: { level: 'none', title: 'misled by a fault' },
  booked: { level: 'ok', title: 'right in the books' },
  found: { level: 'ok', title: 'found in the list' },
  told: { level: 'ok', title: 'told' },
} as const satisfies Record<string, { level: Level; title: string }>

/** Id of an outcome. */
export type OutcomeId = keyof typeof OUTCOMES

const ORDER = Object.keys(OUTCOMES) as OutcomeId[]

/** Sorts by level, then by the order of the table, the worst first; equal outcomes stay in their order. */
export function outcomeRank({ level, outcome }: Pick<OperationOutcome, 'level' | 'outcome'>): number {
  return LEVELS.indexOf(level) * 100 + ORDER.indexOf(outcome)
}

/** Types of operations that are judged: transfers, and the portfolios that are made for them. */
export type OperationType = 'deposit' | 'withdraw' | 'create_portfolio'

/** Money that an operation moved and that its client did not mean to move. */
export interface MovedWrongly {
  /** Slug. */
  tenant: string
  external_id: string
  portfolio_id: string
  /** Amount of one transfer, in minor units, a digit string. */
  amount_minor: string
  token_symbol: string
  token_decimals: number
  /** Number of transfers that were too many: 1 for what was paid twice. */
  times: number
}

/** The outcome of one operation: everything sent under one Idempotency-Key for one end user. */
export interface OperationOutcome {
  outcome: OutcomeId
  /** Level of the outcome, unless its place makes it milder or graver. */
  level: Level
  /** One sentence or more, for people: "alice's deposit of 250.00 USDC was carried out, and your client was told." */
  sentence: string
  /** Slug; null if none of its requests named one. */
  tenant: string | null
  external_id: string | null
  type: OperationType
  /** Null for an operation without one, and for one that was never sent. */
  idempotency_key: string | null
  /** Requested amount in minor units; null if no request shows it. */
  amount_minor: string | null
  portfolio_id: string | null
  /** Ids of its attempts, oldest first, then of other exchanges that show the outcome. */
  request_ids: string[]
  /** Only where the money is wrong at the end: not for what was put right, or never moved. */
  money_moved_wrongly?: MovedWrongly
}
