import type { PoolFacts } from '../chain-setup.ts'
import type { Address, Hex, Pool, Transfer, TransferType } from '../records.ts'

/** Owner of a wallet: the chain room derives the wallet's key from these fields and the seed. */
export interface WalletOwner {
  tenant_id: string
  external_id: string
}

/** A pool's market figures, read from the chain. Decimal numbers in strings; `apy` is a fraction of one (`"0.0412"` is 4.12 %). */
export interface MarketFigures {
  apy: string
  tvl_usd: string
  /** Price of a whole token, with two decimals or more. */
  price_usd: string
}

/** Part of a wallet's holding in a pool, in the protocol's own unit (see `Portfolio.shares`). */
export interface Position {
  pool: Pool
  shares: bigint
}

/** State of the chain at the timestamp of the block that will carry a transfer. Amounts in minor units. */
export interface TransferFacts {
  /** Underlying tokens in the wallet, less those that earlier transfers of the same block take. */
  wallet_balance: bigint
  /** Worth of the position at that timestamp. */
  position_value: bigint
  /** True if a deposit of the order's amount gives no shares, or only shares that are not worth a minor unit by themselves. */
  worthless: boolean
}

/** Decision on a transfer's amount. `all` empties the position whatever its worth; `amount` is then that worth. */
export interface TransferDecision {
  amount: bigint
  all: boolean
}

/** A transfer as it was signed, before anything is broadcast. Amounts in minor units. */
export interface SignedTransaction {
  tx_hash: Hex
  raw_transaction: Hex
  /** The amount decided. */
  amount: bigint
  /** The position's worth directly before the transfer, in the block it was signed for. */
  value_before: bigint
  /** Time of the block it was signed for, in Unix seconds. */
  block_timestamp: number
}

/** A transfer that was signed in an earlier life of the process. */
export interface UnfinishedTransfer extends SignedTransaction {
  type: TransferType
  pool: Pool
}

/** A deposit or withdrawal to be carried out on chain. */
export interface TransferOrder {
  type: TransferType
  owner: WalletOwner
  /** Requested amount, in minor units. */
  amount: bigint
  position: Position
  /** Decides the amount from the facts, without side effects. If it throws (insufficient balance), nothing is signed. */
  decide(facts: TransferFacts): TransferDecision
  /** Signs the transfer so that it is mined and fails, for the fault of that name. */
  revert?: boolean
  /** Called once with the signed bytes, before broadcast. Returns the record by which they are to be stored. */
  signed(transaction: SignedTransaction, nonce: number): Transfer
  /**
   * Stores the records of all transfers of a block, or none; they must be durable when it resolves. If it rejects, none was made, and
   * all of them reject with its error. All orders of a chain have the same, and one of them is asked.
   */
  storeSigned(transfers: readonly Transfer[]): Promise<void>
  /** True if it is booked as soon as it is mined, without a confirmation delay: its block may be stored with that. */
  booked_at_once?: boolean
  /** Called once, when the signed bytes are handed to the node for the first time. */
  broadcast?(): void
}

/** A transfer that stands in a block, successful or reverted. */
export interface MinedTransfer {
  tx_hash: Hex
  block_number: number
  /** Unix seconds. */
  block_timestamp: number
  status: 'success' | 'reverted'
  /** Underlying tokens moved, in minor units; the amount decided if reverted. */
  amount: bigint
  /** Shares minted (deposit) or burned (withdrawal); 0 if reverted. */
  shares: bigint
  /** The position's worth directly before the transfer, at the block's timestamp. */
  value_before: bigint
}

/** The initial token balance of a wallet, and the markets that may take tokens from it. */
export interface WalletFunding {
  token_address: Address
  /** Minor units. */
  amount: bigint
  spenders: Address[]
}

/** Changes that faults make to a chain; a production service has none of them. */
export interface ChainControls {
  /** Replaces the last block by another with the same transactions: same hashes, same effect, another block hash. */
  reorg(): Promise<void>
  /** Silences Anvil until {@link ChainControls.resume}: every call throws {@link ChainUnavailableError} at once. */
  pause(): void
  resume(): void
  /** While the pool is paused, deposits into it and withdrawals from it revert. */
  setPoolPaused(pool: PoolFacts, paused: boolean): Promise<void>
  /**
   * While the pool is not liquid, withdrawals from it revert, as if all its tokens were lent out. Tokens deposited meanwhile, and the
   * earnings of a vault's deposits, can be withdrawn.
   */
  setPoolLiquid(pool: PoolFacts, liquid: boolean): Promise<void>
  /**
   * Sets the pool's APY from now on, as a fraction of one; undefined gives back the market's own rate. Throws RangeError outside of
   * 0 to 100.
   */
  setApy(pool: PoolFacts, apy: number | undefined): Promise<void>
}

/** One chain that the service works on. Every method throws {@link ChainUnavailableError} if the chain cannot be reached. */
export interface Chain extends ChainControls {
  readonly chain_id: string
  /**
   * Answers a client's JSON-RPC within a budget. `body` is parsed JSON (undefined if the request had none); the answer is JSON,
   * undefined if the client expects none (notifications).
   */
  relay(body: unknown): Promise<string | undefined>
  /** Calls back with the number of each new block. Returns what ends that. */
  watch(watcher: (number: number) => void): () => void
  /** Makes reading JSON-RPC calls of the sandbox's own, each with method and parameters. Returns results, or errors in their place. */
  ask(calls: readonly (readonly [method: string, ...params: unknown[]])[]): Promise<unknown[]>
  /**
   * The first block of the sandbox, and the last one with its time in Unix seconds, as the chain's own record has them: does not call the
   * node, and may lag behind blocks that others mined. Undefined before the chain was first used.
   */
  readonly span: { first: number; last: number; timestamp: number } | undefined
  /** Outcome of a transaction that the chain's node may have forgotten. Does not call the node; undefined if the node must be asked. */
  outcome(hash: Hex): 'success' | 'reverted' | undefined
  market(pool: Pool): Promise<MarketFigures>
  /**
   * The same object as long as {@link Chain.market} gives the same promises: until the chain changes or the sandbox clock goes on. Undefined
   * if it has to be asked in any case, since it rests, or will once nobody asks.
   */
  readonly marketMoment: object | undefined
  /** Underlying tokens that a pool can pay out now, in minor units; null if its market does not show them. */
  liquidity(pool: Pool): Promise<bigint | null>
  /** Worth of positions now (sandbox clock), in minor units, in the order given, in a constant number of round trips. */
  values(positions: readonly Position[]): Promise<bigint[]>
  /** Shares that the owner's wallet holds in a pool, as read from the chain. */
  shares(owner: WalletOwner, pool: Pool): Promise<bigint>
  walletBalance(owner: WalletOwner, token: Address): Promise<bigint>
  fundWallet(owner: WalletOwner, funding: readonly WalletFunding[]): Promise<void>
  /** Waits for the transfer's block, then signs, broadcasts and mines. Rejects with the error of `decide` or `storeSigned`. */
  transfer(order: TransferOrder): Promise<MinedTransfer>
  /**
   * Continues {@link Chain.transfer} from the signed bytes: settled if they are in a block, otherwise sent again and mined, at the
   * timestamp that they were signed for unless the chain is past it. Call it for all transfers of one wallet together. Rejects if
   * they can never be mined.
   */
  finish(transfer: UnfinishedTransfer): Promise<MinedTransfer>
}

/** The chains by id, and the wallets, which have the same address on each. */
export interface Chains {
  get(chainId: string): Chain | undefined
  all(): Chain[]
  walletAddress(owner: WalletOwner): Address
}

/** The chain did not answer. After signing, the outcome is unknown until it answers again. */
export class ChainUnavailableError extends Error {
  override readonly name = 'ChainUnavailableError'
  readonly code = 'chain_unavailable'
  constructor(
    readonly chainId: string,
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`chain ${chainId} cannot be reached: ${reason}`, options)
  }
}

/** A chain got no node, because the maximum number is at work. The wait for one has already passed: a retry at once is useless. */
export class NoNodeFreeError extends ChainUnavailableError {}

/** The chain answers, but wrongly: somebody changed its contracts or accounts. Only a reset helps. */
export class ChainUnsoundError extends Error {
  override readonly name = 'ChainUnsoundError'
  readonly code = 'chain_unsound'
  constructor(
    readonly chainId: string,
    reason: string,
    options?: ErrorOptions,
  ) {
    super(`chain ${chainId} does not work as it should: ${reason}`, options)
  }
}

/** A chain cannot match its setup. The message names the place of the setup, the fault and the fix. */
export class ChainSetupError extends Error {
  override readonly name = 'ChainSetupError'
  readonly code = 'invalid_chain_setup'

  constructor(origin: string, message: string, fix: string, cause?: unknown) {
    super(`${origin}: ${message}. Fix: ${fix}.`, { cause })
  }
}

/** Outcome of a transaction, as read from the chain. */
export type TransactionOutcome = 'success' | 'reverted' | 'unknown'

/**
 * Reads wallets and transactions from the chains, for the audit. Questions asked together share one round trip per chain. Every
 * method throws `ChainUnavailableError` if the chain cannot be reached.
 */
export interface ChainObserver {
  /** Tokens in a wallet, in minor units. */
  balance(chainId: string, token: Address, wallet: Address): Promise<bigint>
  /** All shares that a wallet holds in a pool, in the unit of `Portfolio.shares`. */
  holding(pool: Pool, wallet: Address): Promise<bigint>
  outcome(chainId: string, hash: Hex): Promise<TransactionOutcome>
}
