import { numberToHex } from 'viem/utils'
import type { Hex } from '../../domain/records.ts'
import type { BlockArchive } from '../archive/block-archive.ts'
import type { FetchBudget, RealCall, RealChain } from '../fork/fetch-budget.ts'
import { type Checkpoint, GAS_LIMIT } from '../history/checkpoint.ts'
import type { Block } from '../json-rpc/block.ts'
import { CALL_FETCHES, CALL_TIME } from '../json-rpc/rpc-budget.ts'
import { faultText } from '../json-rpc/rpc-server.ts'

const ZERO = numberToHex(0, { size: 32 })

/** Answers, by method, for state that neither the checkpoint nor a real chain has. */
const NOTHING: Record<string, unknown> = {
  eth_getBalance: '0x0',
  eth_getTransactionCount: '0x0',
  eth_getCode: '0x',
  eth_getStorageAt: ZERO,
  eth_getAccountInfo: { nonce: '0x0', balance: '0x0', code: '0x' },
  eth_gasPrice: '0x0',
  eth_getLogs: [],
  eth_getBlockReceipts: [],
  trace_block: [],
  trace_filter: [],
}

/** Methods that look something up by number or hash; the answer is null if it does not exist. */
const MAY_BE_UNKNOWN = /^eth_get(Block|Transaction|RawTransaction|Uncle)/
/** The error of a call that reads too much. Another call at the same time may get it instead. */
const REFUSED = {
  code: -32000,
  message: `not fetched: a call reads at most ${CALL_FETCHES} accounts and slots for the first time, for at most ${CALL_TIME / 1_000} s; what was read so far is kept`,
}
const FORGOTTEN = { code: -32000, message: 'of old blocks, no state and no trace is kept' }

/** Index of the parameter that names the block, by method that reads state. */
const BLOCK_PARAMETER: Record<string, number> = {
  eth_getBalance: 1,
  eth_getTransactionCount: 1,
  eth_getCode: 1,
  eth_getStorageAt: 2,
  eth_getAccountInfo: 1,
  eth_getProof: 2,
  eth_call: 1,
}

/** Methods that every node with a block's state answers. Not all know `eth_getAccountInfo`: Anvil then asks for its parts. */
const ACCOUNT = /^eth_get(Balance|TransactionCount|Code|StorageAt)$/

/**
 * Plays the chain that an Anvil forks at a checkpoint. Accounts are in its genesis, so Anvil asks here for the block, for earlier
 * ones, and for state that the checkpoint does not hold: none on an embedded chain, the real chain's on a fork. Why an embedded
 * chain is a fork at all: docs/decisions/0008-embedded-chains-are-forks.md.
 */
export class ForkUpstreamStub {
  /** Resolves when the first question has come. */
  readonly asked: Promise<void>
  #deps: StubDeps
  #accounts: Record<string, KeptAccount> | undefined
  #wasAsked = () => {}

  constructor(deps: StubDeps) {
    this.#deps = deps
    this.asked = new Promise((resolve) => {
      this.#wasAsked = resolve
    })
  }

  /** Replaces the sources of the answers: the node belongs to another chain now. */
  servedFrom(sources: StubDeps): void {
    this.#deps = sources
  }

  /** The {@link RpcHandler} of the server. */
  answer = async (body: string): Promise<string> => {
    this.#wasAsked()
    const request: RealCall | RealCall[] = JSON.parse(body)
    if (Array.isArray(request)) return `[${(await Promise.all(request.map((call) => this.#one(call)))).join()}]`
    return this.#one(request)
  }

  async #one(call: RealCall): Promise<string> {
    const { fetches } = this.#deps
    if (Object.hasOwn(BLOCK_PARAMETER, call.method) && fetches?.admit(call.method, call.params?.[0]) === false)
      return faultText(call, REFUSED)
    const known = (await this.#known(call)) ?? feesOf(call)
    if (known === undefined && fetches?.real) return this.#forward(call, fetches.real)
    const answer = known === undefined ? nothingOf(call.method) : { result: known }
    return JSON.stringify({ jsonrpc: '2.0', id: call.id, ...answer })
  }

  #forward(call: RealCall, real: RealChain): Promise<string> {
    const { forked } = this.#deps.checkpoint
    const asked = this.#beforeFork(call)
    const block = asked.params?.[BLOCK_PARAMETER[call.method] ?? -1]
    return real.forward(asked, ACCOUNT.test(call.method) && forked !== undefined && Number(block) === forked)
  }

  /** Answers from checkpoint and archive; undefined if they do not have the answer. */
  async #known({ method, params = [] }: RealCall): Promise<unknown> {
    const { chainId, checkpoint, archive } = this.#deps
    const { number, hash } = checkpoint.block
    const [block] = params
    if (method === 'eth_chainId') return numberToHex(Number(chainId))
    if (method === 'net_version') return chainId
    if (method === 'eth_blockNumber') return number
    if (method === 'eth_getBlockByNumber' && (block === number || block === 'latest')) return this.#forkBlock
    if (method === 'eth_getBlockByHash' && block === hash) return this.#forkBlock
    if (ACCOUNT.test(method) && params[1] === number) return this.#kept(method, block)
    if (!archive.mayAnswer(method)) return undefined
    await archive.opened // Anvil starts while the archive is still being read
    return archive.answer(method, params)
  }

  /**
   * Answers for an account from the checkpoint of a fork. As it starts, Anvil asks for the accounts that it makes itself: it must
   * start even if the real chain cannot be reached, or does not have the block any more.
   */
  #kept(method: string, address: unknown): unknown {
    if (!this.#deps.fetches?.real) return undefined
    this.#accounts ??= JSON.parse(this.#deps.checkpoint.accounts) as Record<string, KeptAccount>
    const account = this.#accounts[String(address).toLowerCase()]
    if (method === 'eth_getBalance') return account?.balance
    if (method === 'eth_getTransactionCount') return account && numberToHex(Number(account.nonce ?? 0))
    return method === 'eth_getCode' && account ? (account.code ?? '0x') : undefined
  }

  /**
   * The checkpoint's block, with constants in place of the members that the next block would inherit: otherwise that would differ
   * from a block that Anvil mines on top of one of its own. Limits and fees are constant; without randomness, difficulty is zero.
   */
  get #forkBlock(): Block {
    const fees = { gasLimit: GAS_LIMIT, baseFeePerGas: '0x0', blobGasUsed: '0x0', excessBlobGas: '0x0' }
    return { ...this.#deps.checkpoint.block, ...fees, mixHash: ZERO, difficulty: '0x0' }
  }

  /** Replaces blocks after the fork by the forked one: the real chain does not have the blocks that were mined here. */
  #beforeFork(call: RealCall): RealCall {
    const { forked } = this.#deps.checkpoint
    const index = BLOCK_PARAMETER[call.method]
    const block = index === undefined ? undefined : call.params?.[index]
    if (forked === undefined || index === undefined || typeof block !== 'string') return call
    if (block.startsWith('0x') && Number(block) <= forked) return call
    return { ...call, params: call.params?.with(index, numberToHex(forked) satisfies Hex) ?? [] }
  }
}

/** An account of a checkpoint; its storage is not read here. */
interface KeptAccount {
  balance: Hex
  nonce?: number | Hex
  code?: Hex
}

/** Answers `eth_feeHistory` with zero fees: Anvil does not know the fees of the block that it begins with. */
function feesOf({ method, params: [, newest, percentiles] = [] }: RealCall): unknown {
  if (method !== 'eth_feeHistory') return undefined
  const reward = Array.isArray(percentiles) ? [percentiles.map(() => '0x0')] : []
  return { oldestBlock: newest, baseFeePerGas: ['0x0', '0x0'], gasUsedRatio: [0], reward }
}

/** Answers for state that neither the archive nor a real chain has. */
function nothingOf(method: string): { result: unknown } | { error: typeof FORGOTTEN } {
  if (Object.hasOwn(NOTHING, method)) return { result: NOTHING[method] }
  return MAY_BE_UNKNOWN.test(method) ? { result: null } : { error: FORGOTTEN }
}

/** Dependencies of a {@link ForkUpstreamStub}. */
export interface StubDeps {
  chainId: string
  checkpoint: Checkpoint
  /** Holds the blocks up to the checkpoint's. */
  archive: BlockArchive
  /** Decides if state may be fetched; for a fork, it also has the source. */
  fetches?: FetchBudget
}
