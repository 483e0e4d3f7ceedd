import type { PoolFacts } from '../chain-setup.ts'
import type { Address, Hex, Pool, TransferType } from '../records.ts'

/** Whose wallet: the chain room derives its key from these and the seed. */
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

/** What the chain says at the timestamp of the block that will carry a transfer. Amounts in minor units. */
export interface TransferFacts {
  /** Underlying tokens in the wallet, less what earlier transfers of the same block take. */
  wallet_balance: bigint
  /** What the position is worth at that timestamp. */
  position_value: bigint
  /** A deposit of the order's amount would give no shares, or none that are worth a minor unit by themselves. */
  worthless: boolean
}

/** What a transfer is to move. `all` empties the position whatever it is worth; `amount` is then its worth. */
export interface TransferDecision {
  amount: bigint
  all: boolean
}

/** A transfer as it was signed, before anything is broadcast. Amounts in minor units. */
export interface SignedTransaction {
  tx_hash: Hex
  raw_transaction: Hex
  /** What was decided. */
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
  /** What was asked for, in minor units. */
  amount: bigint
  position: Position
  /** Pure. Decides the amount from the facts, or throws (insufficient balance): then nothing is signed. */
  decide(facts: TransferFacts): TransferDecision
  /** Sign it so that it is mined and fails: for the fault of that name. */
  revert?: boolean
  /** Called once with the signed bytes, before broadcast; the bytes must be safe when it resolves. */
  signed(transaction: SignedTransaction): Promise<void>
}

/** A transfer that stands in a block, successful or reverted. */
export interface MinedTransfer {
  tx_hash: Hex
  block_number: number
  /** Unix seconds. */
  block_timestamp: number
  status: 'success' | 'reverted'
  /** Underlying moved, in minor units; what was decided if reverted. */
  amount: bigint
  /** Shares minted (deposit) or burned (withdrawal); 0 if reverted. */
  shares: bigint
  /** The position's worth directly before the transfer, at the block's timestamp. */
  value_before: bigint
}

/** A token balance a wallet is to start with, and the markets that may take it. */
export interface WalletFunding {
  token_address: Address
  /** Minor units. */
  amount: bigint
  spenders: Address[]
}

/** What faults do to a chain; a service in production has none of it. */
export interface ChainControls {
  /** Replaces the last block by another one with the same transactions: same hashes, same effect, another block hash. */
  reorg(): Promise<void>
  /** Anvil answers nothing until {@link ChainControls.resume}: every call throws {@link ChainUnavailableError} at once. */
  pause(): void
  resume(): void
  /** Deposits into the pool and withdrawals from it revert while it is paused. */
  setPoolPaused(pool: PoolFacts, paused: boolean): Promise<void>
  /**
   * While it is not liquid, withdrawals from the pool revert, as everything in it is lent out. What is deposited meanwhile, and
   * what a vault's deposits earn, can be withdrawn.
   */
  setPoolLiquid(pool: PoolFacts, liquid: boolean): Promise<void>
  /**
   * What the pool earns from now on, a fraction of one a year; undefined gives back what the market would pay. Throws
   * RangeError outside of 0 to 100.
   */
  setApy(pool: PoolFacts, apy: number | undefined): Promise<void>
}

/** One chain the service works on. Every method throws {@link ChainUnavailableError} when it cannot be reached. */
export interface Chain extends ChainControls {
  readonly chain_id: string
  /** Answers somebody else's JSON-RPC within a budget, parsed from JSON (undefined if it was none), with JSON; with nothing if nobody wants an answer. */
  relay(body: unknown): Promise<string | undefined>
  /** JSON-RPC calls of our own that read, each with its method and parameters. Gives results, or errors in their place. */
  ask(calls: readonly (readonly [method: string, ...params: unknown[]])[]): Promise<unknown[]>
  /** How a transaction went that the chain's node may have forgotten. Asks nobody; undefined if the node is to be asked. */
  outcome(hash: Hex): 'success' | 'reverted' | undefined
  market(pool: Pool): Promise<MarketFigures>
  /** Worth of positions now (sandbox clock), in minor units, in the order given. Constant round trips, however many. */
  values(positions: readonly Position[]): Promise<bigint[]>
  /** Shares the owner's wallet holds in a pool, by the chain's own word. */
  shares(owner: WalletOwner, pool: Pool): Promise<bigint>
  walletBalance(owner: WalletOwner, token: Address): Promise<bigint>
  fundWallet(owner: WalletOwner, funding: readonly WalletFunding[]): Promise<void>
  /** Waits for its block, then signs, broadcasts and mines. Rejects with what `decide` or `signed` threw. */
  transfer(order: TransferOrder): Promise<MinedTransfer>
  /**
   * As {@link Chain.transfer} from the signed bytes on: settled if they stand in a block, else sent again and mined, at the
   * timestamp they were signed for if the chain is not past it. Those of one wallet are to be asked for together. Rejects
   * if they can never be mined.
   */
  finish(transfer: UnfinishedTransfer): Promise<MinedTransfer>
}

/** The chains by id, and the wallets, whose addresses are the same on each. */
export interface Chains {
  get(chainId: string): Chain | undefined
  all(): Chain[]
  walletAddress(owner: WalletOwner): Address
}

/** The chain did not answer. After signing, the outcome is unknown until it does. */
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

/** There is no node for a chain, since as many are at work as may be. It was waited for one: trying again at once is of no use. */
export class NoNodeFreeError extends ChainUnavailableError {}

/** The chain answers, but not as it should: somebody changed its contracts or accounts. Only a reset helps. */
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

/** A chain cannot be what its setup says. The message names where the setup was given, what is wrong and what to do. */
export class ChainSetupError extends Error {
  override readonly name = 'ChainSetupError'
  readonly code = 'invalid_chain_setup'

  constructor(origin: string, message: string, fix: string, cause?: unknown) {
    super(`${origin}: ${message}. Fix: ${fix}.`, { cause })
  }
}

/** How a transaction went, by the chain's word. */
export type TransactionOutcome = 'success' | 'reverted' | 'unknown'

/**
 * The chains' own word on wallets and transactions, for the audit. Questions asked together are answered in one round
 * trip per chain, however many. Every method throws `ChainUnavailableError` when the chain cannot be reached.
 */
export interface ChainObserver {
  /** Tokens in a wallet, in minor units. */
  balance(chainId: string, token: Address, wallet: Address): Promise<bigint>
  /** All that a wallet holds in a pool, in the unit of `Portfolio.shares`. */
  holding(pool: Pool, wallet: Address): Promise<bigint>
  outcome(chainId: string, hash: Hex): Promise<TransactionOutcome>
}
