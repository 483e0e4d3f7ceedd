import type { PrivateKeyAccount } from 'viem/accounts'
import { keccak256 } from 'viem/utils'
import type { MinedTransfer, TransferDecision, TransferFacts, TransferOrder } from '../domain/ports/chain.ts'
import type { Hex } from '../domain/records.ts'
import type { ChainState } from './chain-state.ts'
import { balanceOf } from './protocols/erc20.ts'
import type { Log, Protocol } from './protocols/protocol.ts'

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

/** What the chain says about the jobs of a round, all at the timestamp of the block that is to carry them. */
export interface RoundFacts {
  timestamp: number
  /** In the order of the jobs. */
  facts: TransferFacts[]
  /** Next nonce by wallet address. */
  nonces: Map<string, number>
}

/** Reads everything a round needs in one round trip. */
export async function readFacts(state: ChainState, jobs: readonly TransferJob[]): Promise<RoundFacts> {
  const wallets = [...new Set(jobs.map(({ account }) => account.address))]
  const balances = jobs.map(({ order, account }) => balanceOf(order.position.pool.token_address, account.address))
  const valuations = jobs.map(({ order: { position }, protocol }) => protocol.valuation(position.pool, position.shares))
  const { timestamp, values, results } = await state.snapshot(
    [...balances, ...valuations.map(({ read }) => read)],
    wallets.map((wallet) => ['eth_getTransactionCount', wallet, 'pending'] as const),
  )
  const facts = valuations.map(({ worth }, index) => ({
    wallet_balance: values[index] ?? 0n,
    position_value: worth(values[jobs.length + index] ?? 0n),
  }))
  return { timestamp, facts, nonces: new Map(wallets.map((wallet, index) => [wallet, Number(results[index])])) }
}

/**
 * Decides, signs and hands out every job of a round. Wallets go side by side; within a wallet one job follows another,
 * since a job that is dropped must leave neither a gap in the nonces nor its amount reserved. Jobs that fail here are
 * rejected and left out: of them nothing is broadcast.
 */
export async function signRound(
  jobs: readonly TransferJob[],
  { facts, nonces }: RoundFacts,
  chainId: number,
  signal: AbortSignal,
): Promise<SignedTransfer[]> {
  const byWallet = new Map<string, { job: TransferJob; known: TransferFacts | undefined }[]>()
  for (const [index, job] of jobs.entries()) {
    const entries = byWallet.get(job.account.address)
    if (entries) entries.push({ job, known: facts[index] })
    else byWallet.set(job.account.address, [{ job, known: facts[index] }])
  }
  const signed = await Promise.all(
    [...byWallet].map(async ([wallet, entries]) => {
      const done: SignedTransfer[] = []
      let nonce = nonces.get(wallet) ?? 0
      const spent = new Map<string, bigint>()
      for (const { job, known } of entries) {
        if (!known || signal.aborted) continue
        const token = job.order.position.pool.token_address
        const taken = spent.get(token) ?? 0n
        try {
          const transfer = await sign(job, { ...known, wallet_balance: known.wallet_balance - taken }, nonce, chainId)
          if (job.order.type === 'deposit') spent.set(token, taken + transfer.decision.amount)
          nonce++
          done.push(transfer)
        } catch (error) {
          job.reject(error)
        }
      }
      return done
    }),
  )
  return signed.flat()
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
  const raw = await account.signTransaction({ type: 'eip1559', chainId, nonce, ...fees, ...call })
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
