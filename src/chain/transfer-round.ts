import type { PrivateKeyAccount } from 'viem/accounts'
import { keccak256 } from 'viem/utils'
import type { MinedTransfer, TransferDecision, TransferFacts, TransferOrder } from '../domain/ports/chain.ts'
import type { Hex } from '../domain/records.ts'
import type { ChainState } from './chain-state.ts'
import { balanceOf } from './protocols/erc20.ts'
import type { Log, Protocol } from './protocols/protocol.ts'

/**
 * Enough for any transfer's intrinsic cost (at most 26,280, were none of its 132 bytes zero), and far from enough for its
 * work: such a transaction is mined and fails, whatever its amount.
 */
const REVERTING_GAS = 30_000n

/** A transfer that waits for its outcome. */
export interface TransferJob {
  order: TransferOrder
  account: PrivateKeyAccount
  protocol: Protocol
  resolve(mined: MinedTransfer): void
  reject(reason: unknown): void
}

/** A transfer whose bytes are safe with whoever ordered it. */
export interface SignedTransfer {
  job: TransferJob
  facts: TransferFacts
  decision: TransferDecision
  hash: Hex
  raw: Hex
}

/** A receipt as far as transfers need it. */
export interface Receipt {
  transactionHash: Hex
  blockNumber: Hex
  status: Hex
  logs: Log[]
}

/** Whether a round under way is to go no further. */
interface CalledOff {
  readonly over: boolean
}

/** A transfer, and what the chain says at the timestamp of the block that is to carry it. */
interface InformedJob {
  job: TransferJob
  facts: TransferFacts
}

/** The jobs of a round with their facts, all read for one timestamp. */
export interface Round {
  timestamp: number
  /** By wallet, in the order they came. */
  wallets: Map<string, InformedJob[]>
  /** Next nonce by wallet. */
  nonces: Map<string, number>
}

/** Reads all a round needs in one round trip. Jobs whose token or market cannot be read are rejected and left out. */
export async function readRound(state: ChainState, jobs: readonly TransferJob[]): Promise<Round> {
  const wallets = new Map<string, InformedJob[]>(jobs.map(({ account }) => [account.address, []]))
  const addresses = [...wallets.keys()]
  const valuations = jobs.map(({ order: { position }, protocol }) => protocol.valuation(position.pool, position.shares))
  const { timestamp, values, results } = await state.snapshot(
    [
      ...jobs.map(({ order, account }) => balanceOf(order.position.pool.token_address, account.address)),
      ...valuations.map(({ read }) => read),
    ],
    addresses.map((address) => ['eth_getTransactionCount', address, 'pending'] as const),
  )
  for (const [index, job] of jobs.entries()) {
    const [balance, answer] = [values[index], values[jobs.length + index]]
    if (typeof balance !== 'bigint') job.reject(balance)
    else if (typeof answer !== 'bigint') job.reject(answer)
    else {
      const facts = { wallet_balance: balance, position_value: valuations[index]?.worth(answer) ?? 0n }
      wallets.get(job.account.address)?.push({ job, facts })
    }
  }
  return { timestamp, wallets, nonces: new Map(addresses.map((address, index) => [address, Number(results[index])])) }
}

/**
 * Decides, signs and hands out every job of a round. Wallets go side by side; within a wallet one job follows another,
 * since a job that is dropped must leave neither a gap in the nonces nor its amount reserved. Jobs that fail here are
 * rejected and left out: of them nothing is broadcast.
 */
export async function signRound(round: Round, chainId: number, calledOff: CalledOff): Promise<SignedTransfer[]> {
  const signed = [...round.wallets].map(([wallet, jobs]) =>
    signWallet(jobs, round.nonces.get(wallet) ?? 0, chainId, calledOff),
  )
  return (await Promise.all(signed)).flat()
}

async function signWallet(
  jobs: readonly InformedJob[],
  firstNonce: number,
  chainId: number,
  calledOff: CalledOff,
): Promise<SignedTransfer[]> {
  const signed: SignedTransfer[] = []
  const spent = new Map<string, bigint>()
  for (const { job, facts } of jobs) {
    if (calledOff.over) break // rejected by whoever called it off
    const token = job.order.position.pool.token_address.toLowerCase()
    const taken = spent.get(token) ?? 0n
    const left = { ...facts, wallet_balance: facts.wallet_balance - taken }
    try {
      const transfer = await sign(job, left, firstNonce + signed.length, chainId)
      signed.push(transfer)
      if (job.order.type === 'deposit' && !job.order.revert) spent.set(token, taken + transfer.decision.amount)
    } catch (error) {
      job.reject(error)
    }
  }
  return signed
}

async function sign(job: TransferJob, facts: TransferFacts, nonce: number, chainId: number): Promise<SignedTransfer> {
  const { order, account, protocol } = job
  const { pool, shares } = order.position
  const decision = order.decide(facts)
  const call =
    order.type === 'deposit'
      ? protocol.deposit(pool, account.address, decision.amount)
      : protocol.withdraw(pool, account.address, decision, shares)
  const fees = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
  const gas = order.revert ? REVERTING_GAS : call.gas
  const raw = await account.signTransaction({ type: 'eip1559', chainId, nonce, ...fees, ...call, gas })
  const hash = keccak256(raw)
  await order.signed({ tx_hash: hash, raw_transaction: raw })
  return { job, facts, decision, hash, raw }
}

/** Tells a job's owner how its transaction went. */
export function settle({ job, facts, decision, hash }: SignedTransfer, receipt: Receipt, blockTimestamp: number): void {
  const { order, protocol } = job
  const success = Number(receipt.status) === 1
  try {
    const moved = success
      ? protocol.movement(order.type, order.position.pool, receipt.logs)
      : { amount: decision.amount, shares: 0n }
    job.resolve({
      ...moved,
      tx_hash: hash,
      block_number: Number(receipt.blockNumber),
      block_timestamp: blockTimestamp,
      status: success ? 'success' : 'reverted',
      value_before: facts.position_value,
    })
  } catch (error) {
    job.reject(error)
  }
}
