import type { MinedTransfer, TransferFacts, TransferOrder, UnfinishedTransfer } from '../../domain/ports/chain.ts'
import type { Hex, Transfer } from '../../domain/records.ts'
import { inTurns } from '../../support/breathe.ts'
import type { BlockArchive } from '../archive/block-archive.ts'
import { type RpcCall, type RpcClient, SenselessAnswerError, unsound } from '../json-rpc/rpc-client.ts'
import { balanceOf, type Log, type Protocol } from '../markets/protocols/protocol.ts'
import type { ChainReader } from '../reading/chain-reader.ts'
import type { Read } from '../reading/view.ts'
import type { Wallet } from '../wallets/wallet.ts'
import type { Mined } from '../writing/chain-writer.ts'

/**
 * Gas that covers any transfer's intrinsic cost (at most 26,280, if none of its 132 bytes is zero), but by far not its execution:
 * such a transaction is mined and fails, whatever its amount.
 */
const REVERTING_GAS = 30_000n

/** Number of wallets whose transfers are signed before others have a turn. */
const WALLETS_AT_ONCE = 16

/** The market's protocol of a transfer, and the callbacks for its outcome. */
interface Awaited {
  protocol: Protocol
  resolve(mined: MinedTransfer): void
  reject(reason: unknown): void
}

/** A transfer that is to be signed. */
export interface TransferJob extends Awaited {
  order: TransferOrder
  wallet: Wallet
}

/** A transfer whose signed bytes are stored by its owner. */
export interface SignedTransfer extends UnfinishedTransfer, Awaited {
  /** See `TransferOrder.booked_at_once`. */
  bookedAtOnce?: boolean
  /** See `TransferOrder.broadcast`. */
  broadcast?(): void
}

/** A transfer, and its facts at the timestamp of the block that is to contain it. */
interface InformedJob {
  job: TransferJob
  facts: TransferFacts
}

/** The jobs of a round with their facts, all read for one timestamp. */
export interface Round {
  timestamp: number
  /** Jobs by wallet, in order of arrival. */
  wallets: Map<string, InformedJob[]>
  /** Next nonce by wallet, after those that were signed in the round. */
  nonces: Map<string, number>
  /** Jobs that are left out since their facts could not be read or are wrong, with the error. */
  unread: Map<TransferJob, unknown>
}

/** Reads the facts of a round in one round trip. Jobs whose token or market cannot be read go to `unread`, with the error. */
export async function readRound(reader: ChainReader, jobs: readonly TransferJob[]): Promise<Round> {
  const wallets = new Map<string, InformedJob[]>(jobs.map(({ wallet }) => [wallet.address, []]))
  const addresses = [...wallets.keys()]
  const inquiries = jobs.map((job) => ({ job, ...inquiryFor(job) }))
  const { timestamp, values, results } = await reader.snapshot(
    inquiries.flatMap(({ reads }) => reads),
    addresses.map((address) => ['eth_getTransactionCount', address, 'pending'] as const),
  )
  const unread = new Map<TransferJob, unknown>()
  for (const { job, reads, facts } of inquiries) {
    const known = facts(values.splice(0, reads.length))
    if (known instanceof Error) unread.set(job, known)
    else wallets.get(job.wallet.address)?.push({ job, facts: known })
  }
  const nonces = new Map(addresses.map((address, index) => [address, nonceIn(results[index], address)]))
  return { timestamp, wallets, nonces, unread }
}

/** The reads for a transfer, and a function that makes its facts, or an error, from their answers. */
interface Inquiry {
  reads: readonly Read<bigint>[]
  facts(answers: readonly (bigint | Error)[]): TransferFacts | Error
}

function inquiryFor({ order, wallet, protocol }: TransferJob): Inquiry {
  const { type, amount } = order
  const { pool, shares } = order.position
  const valuation = protocol.valuation(pool, shares)
  const appraisal = type === 'deposit' ? protocol.appraisal(pool, amount) : undefined
  return {
    reads: [balanceOf(pool.token_address, wallet.address), valuation.read, ...(appraisal?.reads ?? [])],
    facts([balance = 0n, answer = 0n, ...answers]) {
      if (balance instanceof Error) return balance
      if (answer instanceof Error) return answer
      // If a market cannot appraise a deposit, the transfer goes on: the market may refuse it on chain.
      const appraised = answers.every((each) => typeof each === 'bigint') ? answers : []
      const worthless = appraised.length > 0 && appraisal?.worthless(appraised) === true
      return { wallet_balance: balance, position_value: valuation.worth(answer), worthless }
    },
  }
}

function nonceIn(result: unknown, wallet: string): number {
  const nonce = Number(result)
  if (Number.isSafeInteger(nonce)) return nonce
  throw new SenselessAnswerError(`the next nonce of ${wallet} is ${result}`)
}

/**
 * Decides and signs every job of a round, and begins to store all of them in one write. A job that fails alone is rejected, and leaves neither
 * a gap in its wallet's nonces nor its amount reserved.
 */
export async function signRound(
  { timestamp, wallets, nonces }: Round,
  chainId: number,
  signal: AbortSignal,
): Promise<SignedRound> {
  const signed: SignedJob[] = []
  for await (const [wallet, jobs] of inTurns(wallets, WALLETS_AT_ONCE)) {
    const nonce = nonces.get(wallet) ?? 0
    const own = signWallet(jobs, { chainId, timestamp, nonce })
    nonces.set(wallet, nonce + own.length)
    signed.push(...own)
  }
  const [first] = signed
  if (!first || signal.aborted) return { transfers: [], stored: Promise.resolve() } // who aborted has rejected them
  const stored = first.order.storeSigned(signed.map(({ record }) => record))
  return { transfers: signed.map(({ transfer }) => transfer), stored }
}

/** The transfers of a round, signed. */
interface SignedRound {
  transfers: SignedTransfer[]
  /** Resolves when their bytes are stored. If it rejects, none of them was made. */
  stored: Promise<void>
}

/** Chain, block timestamp (Unix seconds) and nonce for which a transaction is signed. */
interface Place {
  chainId: number
  timestamp: number
  nonce: number
}

/** A transfer that is signed, and the record by which it is to be stored. */
interface SignedJob {
  order: TransferOrder
  transfer: SignedTransfer
  record: Transfer
}

function signWallet(jobs: readonly InformedJob[], first: Place): SignedJob[] {
  const signed: SignedJob[] = []
  const spent = new Map<string, bigint>()
  for (const { job, facts } of jobs) {
    const token = job.order.position.pool.token_address.toLowerCase()
    const taken = spent.get(token) ?? 0n
    const left = { ...facts, wallet_balance: facts.wallet_balance - taken }
    try {
      const own = sign(job, left, { ...first, nonce: first.nonce + signed.length })
      signed.push(own)
      if (job.order.type === 'deposit' && !job.order.revert) spent.set(token, taken + own.transfer.amount)
    } catch (error) {
      job.reject(error)
    }
  }
  return signed
}

function sign(job: TransferJob, facts: TransferFacts, place: Place): SignedJob {
  const { order, wallet, protocol, resolve, reject } = job
  const { chainId, timestamp, nonce } = place
  const { pool, shares } = order.position
  const decision = order.decide(facts)
  const call =
    order.type === 'deposit'
      ? protocol.deposit(pool, wallet.address, decision.amount)
      : protocol.withdraw(pool, wallet.address, decision, shares)
  const gas = order.revert ? REVERTING_GAS : call.gas
  const signed = {
    ...wallet.sign({ chainId, nonce, ...call, gas }),
    amount: decision.amount,
    value_before: facts.position_value,
    block_timestamp: timestamp,
  }
  const record = order.signed(signed, nonce)
  const broadcast = () => order.broadcast?.()
  const { type, booked_at_once: bookedAtOnce = false } = order
  return { order, record, transfer: { ...signed, type, pool, protocol, resolve, reject, bookedAtOnce, broadcast } }
}

/** Number of wallets from which on {@link NonceOrder} forgets all of them. */
const MOST_WALLETS = 10_000

/**
 * Checks that each wallet signs with the nonce after its last one. If the chain reports another next nonce, it has lost a transfer,
 * or got one that the sandbox does not know; a transaction signed then would replace another transfer, or could never be mined.
 */
export class NonceOrder {
  readonly #next = new Map<string, number>()
  #foreignChanges = 0

  /**
   * Moves the jobs of wallets for which the chain reports another nonce than the expected one to `unread`. Forgets all nonces if the
   * chain was changed from outside since the last round: transactions may have been sent in a wallet's name.
   */
  leaveOut({ wallets, nonces, unread }: Round, foreignChanges: number): void {
    if (foreignChanges !== this.#foreignChanges) this.clear()
    this.#foreignChanges = foreignChanges
    for (const [wallet, jobs] of wallets) {
      const expected = this.#next.get(wallet)
      const found = nonces.get(wallet)
      if (expected === undefined || found === expected) continue
      const problem = `the next nonce of wallet ${wallet} must be ${expected}; found ${found}`
      for (const { job } of jobs) unread.set(job, new SenselessAnswerError(problem))
      wallets.delete(wallet)
      nonces.delete(wallet)
    }
  }

  /** Call when wallets have signed, with the next nonce by wallet. */
  signed(next: ReadonlyMap<string, number>): void {
    if (this.#next.size >= MOST_WALLETS) this.clear()
    for (const [wallet, nonce] of next) this.#next.set(wallet, nonce)
  }

  /** Call when a signed transfer is given up, or nonces may have been used by other means. */
  clear(): void {
    this.#next.clear()
  }
}

interface Ahead {
  jobs: readonly TransferJob[]
  round: Promise<Round | undefined>
  /** Version of the chain's state that was read; undefined until it is known. */
  version?: number
}

/** Reads the facts of the next round while the last one's block is being kept and settled: the node would be idle then. */
export class PrefetchedRound {
  readonly #reader: ChainReader
  #ahead: Ahead | undefined

  constructor(reader: ChainReader) {
    this.#reader = reader
  }

  /** Begins to read for the waiting jobs. Call when the round's block is mined and nothing else will change the chain. */
  begin(jobs: readonly TransferJob[]): void {
    if (jobs.length === 0) return
    const round = readRound(this.#reader, jobs).catch(() => undefined) // the next round reads again
    this.#ahead = { jobs, round }
  }

  /** Call when the round has succeeded: the facts are valid until the chain's state changes. */
  hold(): void {
    if (this.#ahead) this.#ahead.version = this.#reader.version
  }

  drop(): void {
    this.#ahead = undefined
  }

  /** Returns the facts that were read, if they are still valid and belong to the first of the waiting jobs; forgets them. */
  take(waiting: readonly TransferJob[]): Pick<Ahead, 'jobs' | 'round'> | undefined {
    const ahead = this.#ahead
    this.#ahead = undefined
    if (ahead?.version !== this.#reader.version) return undefined
    return ahead.jobs.every((job, i) => job === waiting[i]) ? ahead : undefined
  }
}

/** The members of a receipt that transfers need. */
export interface Receipt {
  blockNumber: Hex
  status: Hex
  logs: Log[]
}

/** A log as `eth_getLogs` returns it. */
interface BlockLog extends Log {
  transactionHash: Hex
  blockNumber: Hex
}

/** Makes the call for the logs of transfers' markets in the latest block: a fifth of the work that receipts cost the node and us. */
export function logsOf(transfers: readonly SignedTransfer[]): RpcCall {
  const markets = new Set(transfers.map(({ pool }) => pool.market_address))
  return ['eth_getLogs', { fromBlock: 'latest', toBlock: 'latest', address: [...markets] }]
}

/**
 * Settles the transfers in the block that was just mined, with the answer to {@link logsOf}, and those in earlier blocks.
 * @returns the transfers that are not in a block
 */
export async function settleMined(
  chain: ReceiptDeps,
  transfers: readonly SignedTransfer[],
  { number, timestamp, answers: [logs] }: Mined,
): Promise<SignedTransfer[]> {
  const receipts = new Map<Hex, Receipt>()
  for (const log of Array.isArray(logs) ? (logs as BlockLog[]) : []) {
    if (Number(log.blockNumber) !== number) continue // of a later block, which is not kept
    const receipt = receipts.get(log.transactionHash)
    if (receipt) receipt.logs.push(log)
    else receipts.set(log.transactionHash, { status: '0x1', blockNumber: log.blockNumber, logs: [log] })
  }
  const silent: SignedTransfer[] = []
  for (const transfer of transfers) {
    const receipt = receipts.get(transfer.tx_hash)
    if (receipt) settle(transfer, receipt, timestamp)
    else silent.push(transfer) // a transaction that fails leaves no log
  }
  return settleKnown(chain, silent, number)
}

/**
 * Settles the transfers in blocks up to `last`, the last kept one, by their receipts.
 * @returns the transfers that are not in such a block
 */
export async function settleKnown(
  { rpc, archive }: ReceiptDeps,
  transfers: readonly SignedTransfer[],
  last: number,
): Promise<SignedTransfer[]> {
  const receipts = await rpc.batch<Receipt | null>(
    transfers.map(({ tx_hash }) => ['eth_getTransactionReceipt', tx_hash]),
  )
  // The node may have forgotten the block: many blocks from outside may follow before a transfer is finished after a restart.
  const recall = async <Answer>(method: string, ...params: unknown[]) =>
    (await archive.answer(method, params)) as Answer | null | undefined
  const missing: SignedTransfer[] = []
  for (const [index, transfer] of transfers.entries()) {
    const { tx_hash } = transfer
    const receipt = receipts[index] ?? (await recall<Receipt>('eth_getTransactionReceipt', tx_hash))
    if (!receipt || Number(receipt.blockNumber) > last) {
      missing.push(transfer)
      continue
    }
    const question = ['eth_getBlockByNumber', receipt.blockNumber, false] as const
    const block = (await recall<{ timestamp: Hex }>(...question)) ?? (await rpc.call<{ timestamp: Hex }>(...question))
    settle(transfer, receipt, Number(block.timestamp))
  }
  return missing
}

/** Resolves a transfer with the outcome of its transaction. */
function settle(transfer: SignedTransfer, receipt: Receipt, blockTimestamp: number): void {
  const { type, pool, protocol, tx_hash, amount, value_before } = transfer
  const success = Number(receipt.status) === 1
  try {
    const moved = success ? protocol.movement(type, pool, receipt.logs) : { amount, shares: 0n }
    transfer.resolve({
      ...moved,
      tx_hash,
      block_number: Number(receipt.blockNumber),
      block_timestamp: blockTimestamp,
      status: success ? 'success' : 'reverted',
      value_before,
    })
  } catch (error) {
    transfer.reject(unsound(pool.chain_id, error))
  }
}

/** Sources of receipts. */
interface ReceiptDeps {
  rpc: RpcClient
  archive: Pick<BlockArchive, 'answer'>
}
