import { type HDAccount, mnemonicToAccount } from 'viem/accounts'
import { keccak256 } from 'viem/utils'
import type { PoolFacts } from '../domain/chain-setup.ts'
import type { ChainControls } from '../domain/ports/chain.ts'
import type { Hex } from '../domain/records.ts'
import type { BlockProducer } from './block-producer.ts'
import type { ChainJournal } from './chain-journal.ts'
import type { ChainKeeper } from './chain-keeper.ts'
import type { ChainState } from './chain-state.ts'
import type { ChainWriter } from './chain-writer.ts'
import type { ContractCall, MarketAdmin } from './protocols/protocol.ts'
import { reorganizedHistory } from './reorganized-history.ts'
import type { Rpc } from './rpc.ts'
import { SenselessAnswerError } from './senseless-answer.ts'
import type { Receipt } from './settlement.ts'

/** What controls work on. */
export interface ControlledParts {
  chainId: string
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

  /** Signs calls as the markets' owner and mines them, in order. */
  #administer(plan: (admin: HDAccount) => Promise<ContractCall[]>): Promise<void> {
    return this.#parts.producer.exclusive(async () => {
      const { chainId, rpc, state, writer } = this.#parts
      this.#admin ??= mnemonicToAccount(DEV_MNEMONIC) // derived on first use: it takes a while
      const signed = await this.#sign(this.#admin, await plan(this.#admin))
      for (const refusal of await writer.broadcast(signed)) if (refusal) throw refusal
      await writer.mine(state.present)
      const receipts = await rpc.batch<Receipt | null>(
        signed.map((raw) => ['eth_getTransactionReceipt', keccak256(raw)]),
      )
      if (receipts.some((receipt) => Number(receipt?.status) !== 1)) {
        throw new SenselessAnswerError(
          `the markets of chain ${chainId} do not let themselves be changed: a transaction failed`,
        )
      }
    })
  }

  async #sign(admin: HDAccount, calls: readonly ContractCall[]): Promise<Hex[]> {
    const { chainId, rpc } = this.#parts
    const first = Number(await rpc.call<Hex>('eth_getTransactionCount', admin.address, 'pending'))
    const terms = { type: 'eip1559', chainId: Number(chainId), maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } as const
    return Promise.all(calls.map((call, index) => admin.signTransaction({ ...terms, nonce: first + index, ...call })))
  }
}
