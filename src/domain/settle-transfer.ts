import type { Logger } from '../support/logger.ts'
import { retryWhile } from '../support/waiting.ts'
import type { ApiResponse } from './api-response.ts'
import { balanceChange, balancesOf, harvestedYield, settle } from './balances.ts'
import type { SandboxClock } from './clock.ts'
import { Problem } from './errors.ts'
import type { Idempotency } from './idempotency.ts'
import { requireRecord, requireSoundPortfolio } from './invariants.ts'
import { poolOf, type ValuedPortfolio } from './portfolios.ts'
import { type Chain, ChainUnavailableError, type MinedTransfer } from './ports/chain.ts'
import type { Store, Write } from './ports/store.ts'
import type { Portfolio, Transaction } from './records.ts'

/** A confirmed transfer: its record, and its portfolio afterwards. */
export interface SettledTransfer extends ValuedPortfolio {
  transaction: Transaction
}

/** Dependencies of {@link settleTransfer}. */
export interface SettlingDeps {
  store: Store
  clock: SandboxClock
  idempotency: Idempotency
  /** Turns the outcome into the response, which is sent and kept. */
  respond(outcome: SettledTransfer): ApiResponse
  log: Logger
}

/** A transfer that is in a block and in the ledger's `transfers`. */
export interface ToSettle {
  id: string
  mined: MinedTransfer
  chain: Chain
  /** Aborted by a reset: settling then waits no longer. */
  cancelled: AbortSignal
}

/**
 * Books a mined transfer. One commit holds its transaction, the yield before it, its portfolio, the end of its record and the response
 * kept under its Idempotency-Key. Returns the response, or Problem transaction_reverted. Does not need the request that caused the
 * transfer. Throws if the transfer has been settled already, and InvariantError, with nothing booked, if it cannot be booked.
 */
export async function settleTransfer(settling: ToSettle, deps: SettlingDeps): Promise<ApiResponse | Problem> {
  const { id, mined } = settling
  const { store, clock, idempotency, respond, log } = deps
  const { type, claim, portfolio_id, harvest } = await requireRecord(store, 'transfers', id)
  const done = { collection: 'transfers', remove: id } as const
  if (mined.status === 'reverted') {
    const problem = reverted(mined)
    await keep([done, ...(claim ? await idempotency.keep(claim, problem) : [])], settling, deps)
    return problem
  }
  const before = await requireRecord(store, 'portfolios', portfolio_id)
  const moved = settle(before, type, mined)
  requireSoundPortfolio(moved)
  const balances = balancesOf(moved, await worthOf(moved, settling, deps))
  // Taken last: a record that is committed later must not sort before one that a client has already paged past.
  const now = clock.iso()
  const portfolio: Portfolio = {
    ...moved,
    yield_earned_synced: balances.yield_earned,
    last_transaction_id: id,
    updated_at: now,
  }
  const { tenant_id, end_user_id } = before
  const common = { tenant_id, end_user_id, portfolio_id, tx_hash: mined.tx_hash, created_at: now }
  const harvested = harvest && harvestedYield(before, mined.value_before, harvest)
  const synced = harvested ? { ...before, yield_earned_synced: harvested.yield_earned_after } : before
  const transaction: Transaction = {
    ...common,
    id,
    type,
    amount_changed: mined.amount.toString(),
    ...balanceChange(synced, balances),
    idempotency_id: claim?.id ?? null,
  }
  const response = respond({ portfolio, balances, transaction })
  const records: Write[] = [
    ...(harvested ? [{ collection: 'transactions', put: { ...common, ...harvested } } as const] : []),
    { collection: 'transactions', put: transaction },
    { collection: 'portfolios', put: portfolio },
  ]
  await keep([done, ...records, ...(claim ? await idempotency.keep(claim, response) : [])], settling, deps)
  log.debug({ transaction_id: id, tx_hash: mined.tx_hash, type }, 'transfer settled')
  return response
}

/** Reads the worth; the money has moved, so a chain that does not answer now must not turn that into an error. */
async function worthOf(portfolio: Portfolio, settling: ToSettle, deps: SettlingDeps): Promise<bigint> {
  const { chain } = settling
  const position = { pool: poolOf(portfolio), shares: BigInt(portfolio.shares) }
  const outage = {
    of: ChainUnavailableError,
    pause: 100,
    level: 'warn',
    message: 'a confirmed transfer waits for the chain',
  } as const
  const [worth] = await outlast(() => chain.values([position]), outage, settling, deps)
  return worth ?? 0n
}

/** Commits; no failure to do so must become an error either, or the client would move the money again under the same key. */
function keep(writes: readonly Write[], settling: ToSettle, deps: SettlingDeps): Promise<void> {
  const outage = {
    of: Error,
    pause: 500,
    level: 'error',
    message: 'a confirmed transfer waits to be written',
  } as const
  return outlast(() => deps.store.commit(writes), outage, settling, deps)
}

/** Errors after which a task is tried again, and the pause before each retry, in milliseconds. */
interface Outage {
  of: typeof ChainUnavailableError | ErrorConstructor
  pause: number
  level: 'warn' | 'error'
  message: string
}

/** Retries until the task succeeds. Throws any other error at once, and the last one if nobody waits any longer. */
async function outlast<Result>(
  task: () => Promise<Result>,
  { of: passing, pause, level, message }: Outage,
  { id, cancelled }: ToSettle,
  { clock, log }: SettlingDeps,
): Promise<Result> {
  return retryWhile(task, {
    passes(error, attempt) {
      if (!(error instanceof passing)) return false
      if (attempt === 1) log[level]({ reason: error.message, transaction_id: id }, message)
      return true
    },
    pauseMs: pause,
    sleep: (milliseconds) => clock.wallSleep(milliseconds, cancelled),
    // Reset in the meantime: reads and writes would now concern another chain.
    ended: () => cancelled.aborted,
  })
}

function reverted(mined: MinedTransfer): Problem {
  return new Problem('transaction_reverted', {
    detail: `The transaction ${mined.tx_hash} stands in block ${mined.block_number} as reverted; no funds moved.`,
  })
}
