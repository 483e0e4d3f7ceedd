import { abortController } from './abort-controller.ts'
import type { ApiResponse } from './api-response.ts'
import { balancesOf, settle } from './balances.ts'
import type { SandboxClock } from './clock.ts'
import type { DurationRange } from './duration.ts'
import { Problem } from './errors.ts'
import type { Claim } from './idempotency.ts'
import type { Ids } from './ids.ts'
import { KeyedQueue } from './keyed-queue.ts'
import { type Portfolios, poolOf, type ValuedPortfolio } from './portfolios.ts'
import {
  type Chain,
  type Chains,
  ChainUnavailableError,
  type MinedTransfer,
  type SignedTransaction,
} from './ports/chain.ts'
import type { Logger } from './ports/logger.ts'
import type { Store } from './ports/store.ts'
import type { SeededRandom } from './random.ts'
import type { EndUser, Pool, Portfolio, Transaction, TransferType } from './records.ts'
import type { ServiceSettings } from './service-settings.ts'
import { decideDeposit, decideWithdrawal } from './transfer-rules.ts'

/** Moments of a transfer at which a fault may strike. */
export type TransferPhase = 'before_broadcast' | 'after_broadcast' | 'after_confirmation'

/** A transfer as a fault sees it and may tamper with it. */
export interface TransferUnderWay {
  readonly type: TransferType
  readonly pool: Pool
  readonly chain: Chain
  /** Set before broadcast, it makes the transaction fail on chain. */
  revert: boolean
}

/** A deposit or withdrawal as a request asks for it. */
export interface TransferRequest {
  type: TransferType
  user: EndUser
  portfolio_id: string
  /** Minor units, above zero. */
  amount: bigint
  /** The Idempotency-Key's claim; absent when the fixture asks. */
  claim?: Claim
  /** Turns the outcome into the response that the claim keeps. */
  respond(outcome: SettledTransfer): ApiResponse
  /** Told of every phase; may delay the transfer, or throw in `before_broadcast` to stop it. */
  reached(phase: TransferPhase, transfer: TransferUnderWay): Promise<void>
  /** Overrides the confirmation delay, in milliseconds. */
  delay?: number
}

/** A confirmed transfer: its record, and its portfolio afterwards. */
export interface SettledTransfer extends ValuedPortfolio {
  transaction: Transaction
}

/** Everything a transfer needs. */
export interface TransferParts {
  store: Store
  chains: Chains
  clock: SandboxClock
  random: SeededRandom
  ids: Ids
  settings: ServiceSettings
  portfolios: Portfolios
  confirmationDelay: DurationRange
  log: Logger
}

/**
 * Carries out deposits and withdrawals: queue behind the portfolio's earlier transfers, check, sign, store the signed
 * bytes, broadcast, wait for the confirmation delay, read the balances, store everything in one write. A client that goes
 * away changes nothing (spec: endpoint 5, rule 2).
 */
export class Transfers {
  readonly #queue = new KeyedQueue()
  readonly #running = new Set<Promise<ApiResponse>>()
  #cancelled = abortController()
  readonly #parts: TransferParts

  constructor(parts: TransferParts) {
    this.#parts = parts
  }

  /** Resolves when confirmed and stored. Throws Problem: portfolio_not_found, insufficient_balance, transaction_reverted … */
  async run(request: TransferRequest): Promise<ApiResponse> {
    await this.#parts.portfolios.require(request.user, request.portfolio_id)
    const cancelled = this.#cancelled.signal
    const running = this.#queue.run(request.portfolio_id, () => this.#carryOut(request, cancelled))
    this.#running.add(running)
    try {
      return await running
    } catch (error) {
      if (cancelled.aborted) throw wasReset()
      throw error
    } finally {
      this.#running.delete(running)
    }
  }

  /** Whether a transfer of the portfolio runs or waits for its turn. */
  runs(portfolioId: string): boolean {
    return this.#queue.has(portfolioId)
  }

  /** Resolves when no transfer runs. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }

  /** Ends every running transfer where it stands; their requests are answered 503. For reset and stop. */
  cancelAll(): void {
    this.#cancelled.abort()
    this.#cancelled = abortController()
  }

  async #carryOut(request: TransferRequest, cancelled: AbortSignal): Promise<ApiResponse> {
    cancelled.throwIfAborted()
    const portfolio = await this.#parts.portfolios.require(request.user, request.portfolio_id)
    const chain = this.#parts.chains.get(portfolio.chain_id)
    if (!chain) throw new Error(`no chain ${portfolio.chain_id}`)
    const pool = poolOf(portfolio)
    const underWay: TransferUnderWay = { type: request.type, pool, chain, revert: false }
    await request.reached('before_broadcast', underWay)
    cancelled.throwIfAborted()
    const id = this.#parts.ids.next('txn')
    const mined = await chain.transfer({
      type: request.type,
      owner: request.user,
      position: { pool, shares: BigInt(portfolio.shares) },
      revert: underWay.revert,
      decide: (facts) =>
        request.type === 'deposit'
          ? decideDeposit(request.amount, facts)
          : decideWithdrawal(request.amount, facts, {
              deposited: BigInt(portfolio.deposited),
              threshold: this.#parts.settings.full_withdrawal_threshold,
            }),
      signed: (signed) => this.#keepSigned(id, request, portfolio, signed),
    })
    await this.#tell(request, 'after_broadcast', underWay)
    await this.#parts.clock.sleep(request.delay ?? this.#drawDelay(), cancelled)
    cancelled.throwIfAborted()
    const response = await this.#settle(id, request, portfolio, chain, mined)
    await this.#tell(request, 'after_confirmation', underWay)
    return response
  }

  /** Once broadcast, nothing that a fault throws may keep the transfer from being settled. */
  async #tell(request: TransferRequest, phase: TransferPhase, underWay: TransferUnderWay): Promise<void> {
    try {
      await request.reached(phase, underWay)
    } catch (error) {
      this.#parts.log.error({ err: error, phase }, 'a fault failed after broadcast; the transfer goes on')
    }
  }

  async #keepSigned(
    id: string,
    request: TransferRequest,
    portfolio: Portfolio,
    signed: SignedTransaction,
  ): Promise<void> {
    await this.#parts.store.commit([
      {
        collection: 'transfers',
        put: {
          id,
          portfolio_id: portfolio.portfolio_id,
          type: request.type,
          chain_id: portfolio.chain_id,
          ...signed,
          idempotency_id: request.claim?.id ?? null,
          signed_at: this.#parts.clock.iso(),
        },
      },
    ])
  }

  async #settle(
    id: string,
    request: TransferRequest,
    before: Portfolio,
    chain: Chain,
    mined: MinedTransfer,
  ): Promise<ApiResponse> {
    const { store, clock, log } = this.#parts
    const done = { collection: 'transfers', remove: id } as const
    if (mined.status === 'reverted') {
      const problem = reverted(mined)
      await store.commit(request.claim ? [done, request.claim.keep(problem)] : [done])
      throw problem
    }
    const { portfolio: booked, transaction: amounts } = settle(before, request.type, mined)
    const moved: Portfolio = { ...before, ...booked }
    const balances = balancesOf(moved, await this.#worth(moved, request.type, chain, mined))
    // Taken last: what is committed later must not sort before what somebody has paged past already.
    const now = clock.iso()
    const portfolio: Portfolio = { ...moved, updated_at: now }
    const transaction: Transaction = {
      id,
      tenant_id: before.tenant_id,
      end_user_id: before.end_user_id,
      portfolio_id: before.portfolio_id,
      type: request.type,
      ...amounts,
      tx_hash: mined.tx_hash,
      idempotency_id: request.claim?.id ?? null,
      created_at: now,
    }
    const response = request.respond({ portfolio, balances, transaction })
    await store.commit([
      done,
      { collection: 'transactions', put: transaction },
      { collection: 'portfolios', put: portfolio },
      ...(request.claim ? [request.claim.keep(response)] : []),
    ])
    log.debug({ transaction_id: id, tx_hash: mined.tx_hash, type: request.type }, 'transfer settled')
    return response
  }

  /** The money has moved: a chain that does not answer now must not turn that into an error. */
  async #worth(portfolio: Portfolio, type: TransferType, chain: Chain, mined: MinedTransfer): Promise<bigint> {
    const cancelled = this.#cancelled.signal
    const position = { pool: poolOf(portfolio), shares: BigInt(portfolio.shares) }
    for (;;) {
      try {
        const [worth] = await chain.values([position])
        return worth ?? 0n
      } catch (error) {
        if (!(error instanceof ChainUnavailableError) || cancelled.aborted) throw error
        // What it was worth in its block is the last that the chain has told.
        if (chain.gone) return mined.value_before + (type === 'deposit' ? mined.amount : -mined.amount)
        this.#parts.log.warn({ chain_id: chain.chain_id }, 'waiting for the chain to read balances')
        await this.#parts.clock.wallSleep(100)
        // Reset in the meantime: what is read now would be of another chain.
        cancelled.throwIfAborted()
      }
    }
  }

  #drawDelay(): number {
    const { min, max } = this.#parts.confirmationDelay
    return max === min ? min : Math.round(min + this.#parts.random.next('confirmation-delay') * (max - min))
  }
}

function reverted(mined: MinedTransfer): Problem {
  return new Problem('transaction_reverted', {
    detail: `The transaction ${mined.tx_hash} stands in block ${mined.block_number} as reverted; no funds moved.`,
  })
}

function wasReset(): Problem {
  return new Problem('sandbox_starting', {
    detail: 'The sandbox was reset while the transfer ran.',
    headers: { 'retry-after': '1' },
  })
}
