import type { DurationRange } from '../support/quantities.ts'
import type { SeededRandom } from '../support/random.ts'
import { KeyedSerialQueue } from '../support/serial-queue.ts'
import type { ApiResponse } from './api-response.ts'
import { quoteHarvest } from './balances.ts'
import { Problem } from './errors.ts'
import type { Ids } from './ids.ts'
import { InvariantError, requireRecord } from './invariants.ts'
import { type Portfolios, poolOf } from './portfolios.ts'
import { type Chain, type Chains, ChainUnavailableError } from './ports/chain.ts'
import type { Claim, EndUser, Pool, Showing, Transfer, TransferType } from './records.ts'
import type { ServiceSettings } from './service-settings.ts'
import { type SettlingDeps, settleTransfer, type ToSettle } from './settle-transfer.ts'
import type { Showings } from './showings.ts'
import { amountsOf, decideDeposit, decideWithdrawal } from './transfer-rules.ts'
import { allOf } from './walk.ts'

/** Moments of a transfer at which a fault may strike. */
export type TransferPhase = 'before_broadcast' | 'after_broadcast' | 'after_confirmation'

/** What becomes of a transfer, in this order. */
export const TRANSFER_STEPS = ['claimed', 'signed', 'broadcast', 'mined', 'confirmed', 'settled'] as const

/**
 * `claimed`: its Idempotency-Key is its own. `signed`: the end user's wallet has signed it. `broadcast`: the node has the bytes. `mined`: it
 * stands in a block, and the block is kept. `confirmed`: the confirmation delay has passed. `settled`: its outcome is booked.
 */
export type TransferStep = (typeof TRANSFER_STEPS)[number]

/** A transfer that a fault sees and may tamper with. */
export interface TransferUnderWay {
  readonly type: TransferType
  readonly pool: Pool
  readonly chain: Chain
  /** Set before broadcast, it makes the transaction fail on chain. */
  revert: boolean
  /** The transaction, once it is signed. */
  signed?: Pick<Transfer, 'id' | 'tx_hash'>
  /** Id of the request whose answer showed the total that is withdrawn; undefined if the withdrawal matches no total shown. */
  shown_by?: string | undefined
}

/** A deposit or withdrawal, as requested. */
export interface TransferRequest {
  type: TransferType
  user: EndUser
  portfolio_id: string
  /** Minor units, above zero. */
  amount: bigint
  /** The Idempotency-Key's claim; absent for transfers of the fixture. */
  claim?: Claim
  /** Called at every phase; may delay the transfer, or throw in `before_broadcast` to stop it. */
  onPhase(phase: TransferPhase, transfer: TransferUnderWay): Promise<void>
  /** Called at every step except `claimed`, as it happens; `number` is the nonce when it is signed, and its block when it is mined. */
  onStep?(step: TransferStep, number?: number): void
  /** Overrides the confirmation delay, in milliseconds. */
  delay?: number
}

/**
 * Carries out deposits and withdrawals: queue behind the portfolio's earlier transfers, check, sign, store the signed bytes,
 * broadcast, wait for the confirmation delay, read the balances, store everything in one write. A client that disconnects
 * changes nothing (spec: endpoint 5, rule 2).
 */
export class Transfers {
  readonly #queue = new KeyedSerialQueue()
  readonly #running = new Set<Promise<unknown>>()
  /** Portfolios with a transfer that is in a block but cannot be booked; a repetition would move the money again. */
  readonly #broken = new Map<string, InvariantError>()
  readonly #deps: TransferDeps

  constructor(deps: TransferDeps) {
    this.#deps = deps
  }

  /** Resolves when confirmed and stored. Throws Problem: portfolio_not_found, insufficient_balance, transaction_reverted … */
  async run(request: TransferRequest): Promise<ApiResponse> {
    const { portfolios, showings } = this.#deps
    // The client cannot know, when it names the amount, what is shown while the transfer waits for its turn.
    const shown = showings.of(await portfolios.require(request.user, request.portfolio_id))
    const cancelled = this.#deps.generation()
    try {
      return await this.#inTurn(request.portfolio_id, () => this.#carryOut(request, shown, cancelled))
    } catch (error) {
      if (cancelled.aborted) throw wasReset()
      throw error
    }
  }

  /**
   * Finishes the transfers that an earlier process signed and did not settle; to be awaited before requests are let in. The same bytes
   * are mined, and the same is booked and kept, but without a confirmation delay, since no client waits. A transfer that can never be
   * mined is logged and stays for the audit to report. Throws ChainUnavailableError; the transfers left are then left for the next run.
   */
  async recover(): Promise<void> {
    const { store, log } = this.#deps
    const cancelled = this.#deps.generation()
    const unfinished = await allOf(store, 'transfers', 'all')
    if (unfinished.length === 0) return
    log.info({ transfers: unfinished.length }, 'finishing transfers of an earlier run')
    const finish = async (transfer: Transfer) => {
      try {
        await this.#inTurn(transfer.portfolio_id, () => this.#finish(transfer, cancelled))
      } catch (error) {
        if (cancelled.aborted) return
        if (error instanceof ChainUnavailableError) throw error
        log.error({ err: error, transaction_id: transfer.id, tx_hash: transfer.tx_hash }, 'a transfer was not finished')
      }
    }
    const results = await Promise.allSettled(unfinished.map(finish))
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  /** @returns true if a transfer of the portfolio runs or waits for its turn. */
  runs(portfolioId: string): boolean {
    return this.#queue.has(portfolioId)
  }

  /** Number of transfers that run or wait for their turn. */
  get running(): number {
    return this.#running.size
  }

  /** Resolves when no transfer runs. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }

  /** Forgets which portfolios were found broken: for a reset. */
  beginAnew(): void {
    this.#broken.clear()
  }

  /** Runs a task after the portfolio's earlier transfers. */
  async #inTurn<T>(portfolioId: string, task: () => Promise<T>): Promise<T> {
    const running = this.#queue.run(portfolioId, task)
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  async #carryOut(request: TransferRequest, shown: Showing | undefined, cancelled: AbortSignal): Promise<ApiResponse> {
    cancelled.throwIfAborted()
    const { clock, ids, log, portfolios, settings, store } = this.#deps
    const portfolio = await portfolios.require(request.user, request.portfolio_id)
    const { portfolio_id, chain_id, last_transaction_id } = portfolio
    const broken = this.#broken.get(portfolio_id)
    if (broken) throw broken
    const chain = this.#chain(chain_id)
    const pool = poolOf(portfolio)
    const inWords = amountsOf(pool, settings)
    const underWay: TransferUnderWay = { type: request.type, pool, chain, revert: false }
    // Step 6 of docs/a-deposit.md: the portfolio is this transfer's alone, nothing is signed, and a fault may still stop everything.
    await request.onPhase('before_broadcast', underWay)
    const quote = settings.yield_harvest === 'recorded' ? await quoteHarvest(chain, pool, settings) : undefined
    cancelled.throwIfAborted()
    // One right after the other, so that in a list no id of another transfer comes between them.
    const harvest = quote && { id: ids.next('txn'), ...quote }
    const id = ids.next('txn')
    // Step 7: one order to the chain. It calls back: `decide` with the facts of the block to come, `signed` with the bytes.
    const mined = await chain.transfer({
      type: request.type,
      owner: request.user,
      amount: request.amount,
      position: { pool, shares: BigInt(portfolio.shares) },
      revert: underWay.revert,
      booked_at_once: (request.delay ?? this.#deps.confirmationDelay.max) === 0,
      decide: (facts) => {
        if (request.type === 'deposit') return decideDeposit(request.amount, facts, inWords)
        const known = shown?.last_transaction_id === last_transaction_id ? shown : undefined
        const total = known && BigInt(known.total_balance)
        const { full_withdrawal } = settings
        const decision = decideWithdrawal(request.amount, facts, { shown: total, full_withdrawal, inWords })
        if (decision.all && request.amount === total) underWay.shown_by = known?.request_id
        return decision
      },
      signed: ({ amount, value_before, ...signed }, nonce) => {
        request.onStep?.('signed', nonce)
        const transfer: Transfer = {
          id,
          end_user_id: request.user.id,
          portfolio_id,
          type: request.type,
          chain_id,
          ...signed,
          amount: amount.toString(),
          value_before: value_before.toString(),
          claim: request.claim ?? null,
          ...(harvest && { harvest }),
          signed_at: clock.iso(),
        }
        underWay.signed = transfer
        return transfer
      },
      // Step 11: stored, with all others of the block, before anybody outside hears of it. From here on the transfer is carried out, by
      // this process or the next.
      storeSigned: (transfers) => store.commit(transfers.map((put) => ({ collection: 'transfers', put }))),
      broadcast: () => request.onStep?.('broadcast'),
    })
    request.onStep?.('mined', mined.block_number)
    await this.#tell(request, 'after_broadcast', underWay)
    const delay = request.delay ?? this.#drawDelay()
    log.debug({ transaction_id: id, tx_hash: mined.tx_hash, delay_ms: delay }, 'transfer mined')
    // Step 15: it stands in a block, and the client is to wait as it would for confirmations.
    await clock.sleep(delay, cancelled)
    cancelled.throwIfAborted()
    request.onStep?.('confirmed')
    // Step 16: its whole outcome is one commit, the response to repetitions included.
    const outcome = await this.#settle({ id, mined, chain, cancelled }, portfolio_id)
    request.onStep?.('settled')
    if (outcome instanceof Problem) throw outcome
    await this.#tell(request, 'after_confirmation', underWay)
    return outcome
  }

  async #finish(transfer: Transfer, cancelled: AbortSignal): Promise<void> {
    const { id, portfolio_id, chain_id } = transfer
    const chain = this.#chain(chain_id)
    const mined = await chain.finish({
      ...transfer,
      pool: poolOf(await requireRecord(this.#deps.store, 'portfolios', portfolio_id)),
      amount: BigInt(transfer.amount),
      value_before: BigInt(transfer.value_before),
    })
    cancelled.throwIfAborted()
    await this.#settle({ id, mined, chain, cancelled }, portfolio_id)
  }

  async #settle(settling: ToSettle, portfolioId: string): Promise<ApiResponse | Problem> {
    try {
      return await settleTransfer(settling, this.#deps)
    } catch (error) {
      if (error instanceof InvariantError) this.#broken.set(portfolioId, error)
      throw error
    }
  }

  #chain(chainId: string): Chain {
    const chain = this.#deps.chains.get(chainId)
    if (!chain) throw new Error(`no chain ${chainId}`)
    return chain
  }

  /** Reports a phase after broadcast: no error of a fault may then keep the transfer from being settled. */
  async #tell(request: TransferRequest, phase: TransferPhase, underWay: TransferUnderWay): Promise<void> {
    try {
      await request.onPhase(phase, underWay)
    } catch (error) {
      const message = 'a fault failed after broadcast; the transfer goes on'
      if (error instanceof ChainUnavailableError) this.#deps.log.warn({ phase, reason: error.message }, message)
      else this.#deps.log.error({ err: error, phase }, message)
    }
  }

  #drawDelay(): number {
    const { min, max } = this.#deps.confirmationDelay
    return max === min ? min : Math.round(min + this.#deps.random.next('confirmation-delay') * (max - min))
  }
}

function wasReset(): Problem {
  return new Problem('sandbox_starting', { detail: 'The sandbox was reset while the transfer ran.' })
}

/** Dependencies of {@link Transfers}. */
export interface TransferDeps extends SettlingDeps {
  chains: Chains
  random: SeededRandom
  ids: Ids
  settings: ServiceSettings
  portfolios: Portfolios
  showings: Showings
  confirmationDelay: DurationRange
  /** Aborted by a reset or a stop: a transfer of that generation ends where it stands, and its request is answered 503. */
  generation(): AbortSignal
}
