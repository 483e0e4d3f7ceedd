import { type HDAccount, mnemonicToAccount } from 'viem/accounts'
import { keccak256, slice } from 'viem/utils'
import type { ChainSetup, MarketSetup, PoolFacts } from '../domain/chain-setup.ts'
import type { ChainControls } from '../domain/ports/chain.ts'
import type { Address, Hex } from '../domain/records.ts'
import type { BlockProducer } from './block-producer.ts'
import type { ChainJournal } from './chain-journal.ts'
import type { ChainKeeper } from './chain-keeper.ts'
import type { ChainState } from './chain-state.ts'
import type { ChainWriter } from './chain-writer.ts'
import { dealing } from './funding-calls.ts'
import { balanceOf } from './protocols/erc20.ts'
import type { ContractCall, MarketAdmin } from './protocols/protocol.ts'
import { reorganizedHistory } from './reorganized-history.ts'
import type { Rpc } from './rpc.ts'
import { SenselessAnswerError } from './senseless-answer.ts'
import type { Receipt } from './settlement.ts'

/** What controls work on. */
export interface ControlledParts {
  chainId: string
  setup: Pick<ChainSetup, 'fork'>
  rpc: Rpc
  state: ChainState
  journal: ChainJournal
  writer: ChainWriter
  producer: BlockProducer
  keeper: Pick<ChainKeeper, 'suspend' | 'resume' | 'replace'>
  /** Whoever a pool's protocol gives the say. */
  admin(pool: PoolFacts): MarketAdmin
}

/** The highest yield a market can be told to pay: 10,000 %. */
const MAX_APY = 100

/** Anvil's development accounts; the first owns the embedded chain's markets. */
const DEV_MNEMONIC = 'test test test test test test test test test test test junk'

/** What faults do to a chain: see `ChainControls`. All but pausing happens between two rounds of transfers. */
export class AnvilControls implements ChainControls {
  readonly #parts: ControlledParts
  #admin: HDAccount | undefined
  #release: (() => void) | undefined

  constructor(parts: ControlledParts) {
    this.#parts = parts
  }

  get paused(): boolean {
    return this.#release !== undefined
  }

  reorg(): Promise<void> {
    const { producer, keeper, writer, journal, state } = this.#parts
    return producer.exclusive(async () => {
      await keeper.replace(await reorganizedHistory(writer, journal, state))
    })
  }

  /** The client is told first: whoever waits for an answer now is refused at once instead of waiting for a time-out. */
  pause(): void {
    if (this.#release) return
    this.#release = this.#parts.rpc.hold('paused by a fault')
    this.#parts.keeper.suspend()
  }

  /** @returns true if it was paused. */
  resume(): boolean {
    if (!this.#release) return false
    this.#parts.keeper.resume()
    this.#release()
    this.#release = undefined
    this.#parts.producer.resume()
    return true
  }

  setPoolPaused(pool: PoolFacts, paused: boolean): Promise<void> {
    const { state } = this.#parts
    return this.#administer(() => this.#parts.admin(pool).setPaused(state.read, pool, paused))
  }

  async setApy(pool: PoolFacts, apy: number | undefined): Promise<void> {
    if (apy !== undefined && !(apy >= 0 && apy <= MAX_APY)) {
      throw new RangeError(`an apy is a fraction from 0 to ${MAX_APY}, not ${apy}`)
    }
    const { state } = this.#parts
    await this.#administer((admin) => this.#parts.admin(pool).setApy(state.read, pool, apy, admin.address))
  }

  /**
   * Moves the tokens that could pay withdrawals to an account that stands for the pool's borrowers, or all of them back. The
   * chain itself is the record of what is away, so that a restart finds it.
   */
  async setPoolLiquid(pool: PoolFacts, liquid: boolean): Promise<void> {
    const { chainId, setup, state, writer, producer } = this.#parts
    if (setup.fork) throw new SenselessAnswerError(`the markets of chain ${chainId} are somebody else's`)
    const admin = this.#parts.admin(pool)
    await producer.exclusive(async () => {
      const payer = await admin.payer(state.read, pool)
      const borrower = borrowerFrom(payer)
      const touch = () => this.#carryOut(({ address }) => admin.touch(state.read, pool, address))
      const read = () => state.read([balanceOf(pool.token_address, payer), balanceOf(pool.token_address, borrower)])
      const [, away] = await read()
      if (liquid && away === 0n) return
      // What has accrued would be paid into the market by the next who deals with it.
      if (!liquid) await touch()
      const [held, lent] = await read()
      const all = held + lent
      await writer.cheat([
        dealing(payer, pool.token_address, liquid ? all : 0n),
        dealing(borrower, pool.token_address, liquid ? 0n : all),
      ])
      await touch()
    })
  }

  /** Undoes whatever may have been done to these markets. */
  async mend(markets: readonly MarketSetup[]): Promise<void> {
    for (const { pool } of markets) {
      await this.setPoolPaused(pool, false)
      await this.setPoolLiquid(pool, true)
      await this.setApy(pool, undefined)
    }
  }

  /** Signs calls as the markets' owner and mines them, in order, between two rounds of transfers. */
  #administer(plan: (admin: HDAccount) => Promise<ContractCall[]>): Promise<void> {
    return this.#parts.producer.exclusive(() => this.#carryOut(plan))
  }

  /** For whoever has the chain to itself. */
  async #carryOut(plan: (admin: HDAccount) => Promise<ContractCall[]>): Promise<void> {
    const { chainId, rpc, state, writer } = this.#parts
    this.#admin ??= mnemonicToAccount(DEV_MNEMONIC) // derived on first use: it takes a while
    const signed = await this.#sign(this.#admin, await plan(this.#admin))
    for (const refusal of await writer.broadcast(signed)) if (refusal) throw refusal
    await writer.mine(state.present)
    const receipts = await rpc.batch<Receipt | null>(signed.map((raw) => ['eth_getTransactionReceipt', keccak256(raw)]))
    if (receipts.some((receipt) => Number(receipt?.status) !== 1)) {
      throw new SenselessAnswerError(
        `the markets of chain ${chainId} do not let themselves be changed: a transaction failed`,
      )
    }
  }

  async #sign(admin: HDAccount, calls: readonly ContractCall[]): Promise<Hex[]> {
    const { chainId, rpc } = this.#parts
    const first = Number(await rpc.call<Hex>('eth_getTransactionCount', admin.address, 'pending'))
    const terms = { type: 'eip1559', chainId: Number(chainId), maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } as const
    return Promise.all(calls.map((call, index) => admin.signTransaction({ ...terms, nonce: first + index, ...call })))
  }
}

/** Who has what an illiquid market lacks: an account of its own for each, which nobody has a key to. */
function borrowerFrom(payer: Address): Address {
  return slice(keccak256(payer), 12)
}
