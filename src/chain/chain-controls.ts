import { type LocalAccount, mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'
import { keccak256, numberToHex, pad, parseAbi } from 'viem/utils'
import { type ChainSetup, MARKET_OWNER, type PoolFacts } from '../domain/chain-setup.ts'
import type { ChainControls } from '../domain/ports/chain.ts'
import type { Address, Hex } from '../domain/records.ts'
import { SeededRandom } from '../support/random.ts'
import { type ChainJournal, type History, NOBODY } from './history/chain-journal.ts'
import { type RpcClient, SenselessAnswerError, soundly } from './json-rpc/rpc-client.ts'
import { balanceOf, borrowerFrom, type ContractCall, call, type MarketAdmin } from './markets/protocols/protocol.ts'
import type { NodeSupervisor } from './node/node-supervisor.ts'
import type { ChainReader } from './reading/chain-reader.ts'
import type { BlockProducer } from './rounds/block-producer.ts'
import type { Receipt } from './rounds/transfer-round.ts'
import { dealing } from './wallets/wallet.ts'
import type { ChainWriter } from './writing/chain-writer.ts'

/** Largest yield that can be set for a market: 10,000 %. */
const MAX_APY = 100

/** Controls by which faults act on a chain: see `ChainControls`. All but pausing runs between two rounds of transfers. */
export class AnvilControls implements ChainControls {
  readonly #deps: ControlledDeps
  #release: (() => void) | undefined

  constructor(deps: ControlledDeps) {
    this.#deps = deps
  }

  get paused(): boolean {
    return this.#release !== undefined
  }

  reorg(): Promise<void> {
    const { producer, supervisor, writer, journal, reader } = this.#deps
    return producer.exclusive(async () => {
      await supervisor.replace(await reorganizedHistory(writer, journal, reader))
    })
  }

  /** Pauses the chain. The client is put on hold first, so that running calls fail at once instead of after a time-out. */
  pause(): void {
    if (this.#release) return
    this.#release = this.#deps.rpc.hold('paused by a fault')
    this.#deps.supervisor.suspend()
  }

  /** @returns true if it was paused */
  resume(): boolean {
    if (!this.#release) return false
    this.#deps.supervisor.resume()
    this.#release()
    this.#release = undefined
    this.#deps.producer.resume()
    return true
  }

  setPoolPaused(pool: PoolFacts, paused: boolean): Promise<void> {
    const { reader } = this.#deps
    return this.#administer(() => this.#deps.admin(pool).setPaused(reader.read, pool, paused))
  }

  async setApy(pool: PoolFacts, apy: number | undefined): Promise<void> {
    if (apy !== undefined && !(apy >= 0 && apy <= MAX_APY)) {
      throw new RangeError(`an apy is a fraction from 0 to ${MAX_APY}, not ${apy}`)
    }
    const { reader } = this.#deps
    await this.#administer((owner) => this.#deps.admin(pool).setApy(reader.read, pool, apy, owner))
  }

  /**
   * Moves the tokens that could pay withdrawals to an account that stands for the pool's borrowers, or all of them back. That
   * account's balance on the chain is the record of the moved tokens, so it survives a restart.
   */
  setPoolLiquid(pool: PoolFacts, liquid: boolean): Promise<void> {
    const { chainId, setup, reader, writer } = this.#deps
    return this.#exclusively(async () => {
      if (setup.fork) throw new SenselessAnswerError(`the markets of chain ${chainId} are somebody else's`)
      const admin = this.#deps.admin(pool)
      const payer = await admin.payer(reader.read, pool)
      const borrower = borrowerFrom(payer)
      const touch = () => this.#carryOut((owner) => admin.touch(reader.read, pool, owner))
      const read = () => reader.read([balanceOf(pool.token_address, payer), balanceOf(pool.token_address, borrower)])
      const [, away] = await read()
      if (liquid && away === 0n) return
      // Book accrued yield first: otherwise the next interaction would pay it into the market.
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

  /** Makes calls as the markets' owner and mines them, in order, between two rounds of transfers. */
  #administer(plan: (owner: Address) => Promise<ContractCall[]>): Promise<void> {
    return this.#exclusively(() => this.#carryOut(plan))
  }

  /** Runs a task with the chain to itself. Throws ChainUnsoundError if the chain's answers are invalid. */
  #exclusively(task: () => Promise<void>): Promise<void> {
    const { chainId, producer } = this.#deps
    return soundly(chainId, () => producer.exclusive(task))
  }

  /** Makes calls as the markets' owner and mines them. The caller must have the chain to itself. */
  async #carryOut(plan: (owner: Address) => Promise<ContractCall[]>): Promise<void> {
    const { chainId, rpc, reader, writer } = this.#deps
    const ruler = await marketRuler(this.#deps)
    const signed = await this.#sign(ruler, await plan(ruler.owner))
    for (const refusal of await writer.broadcast(signed)) if (refusal) throw refusal
    await writer.mine(reader.present)
    const receipts = await rpc.batch<Receipt | null>(signed.map((raw) => ['eth_getTransactionReceipt', keccak256(raw)]))
    if (receipts.some((receipt) => Number(receipt?.status) !== 1)) {
      throw new SenselessAnswerError(
        `the markets of chain ${chainId} do not let themselves be changed: a transaction failed`,
      )
    }
  }

  async #sign({ signer, ordered }: Ruler, calls: readonly ContractCall[]): Promise<Hex[]> {
    const { chainId, rpc } = this.#deps
    const first = Number(await rpc.call<Hex>('eth_getTransactionCount', signer.address, 'pending'))
    const terms = { type: 'eip1559', chainId: Number(chainId), maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } as const
    return Promise.all(
      calls.map((call, index) => signer.signTransaction({ ...terms, nonce: first + index, ...ordered(call) })),
    )
  }
}

export interface ControlledDeps extends RulerDeps {
  chainId: string
  setup: Pick<ChainSetup, 'fork'>
  reader: ChainReader
  journal: ChainJournal
  producer: BlockProducer
  supervisor: Pick<NodeSupervisor, 'suspend' | 'resume' | 'replace'>
  /** Returns the administration of a pool's protocol. */
  admin(pool: PoolFacts): MarketAdmin
}

/**
 * Makes the history of a reorganisation, which gives the last block another miner: the same transactions at the same time, and so
 * the same effect, but another hash. If the last block is not in the journal, an empty block is mined and replaced instead.
 * Nothing else may change the chain meanwhile. Throws ChainUnavailableError.
 */
async function reorganizedHistory(writer: ChainWriter, journal: ChainJournal, reader: ChainReader): Promise<History> {
  await writer.reconcile()
  for (;;) {
    const history = writer.changedByOthers ? undefined : await journal.read()
    const last = history?.operations.findLastIndex((operation) => 'mine' in operation) ?? -1
    const block = history?.operations[last]
    if (history && block && 'mine' in block) {
      const { hash: _, ...same } = block
      const miner = nextAddress(block.miner ?? NOBODY)
      return { ...history, operations: history.operations.with(last, { ...same, miner }) }
    }
    await writer.mine(reader.present)
  }
}

function nextAddress(address: Hex): Hex {
  return numberToHex(BigInt.asUintN(160, BigInt(address) + 1n), { size: 20 })
}

/** Mnemonic of Anvil's development accounts. The first one owns the markets of older chains, which do not have a MarketOwner. */
const DEV_MNEMONIC = 'test test test test test test test test test test test junk'

/** contracts/MarketOwner.sol */
const OWNER = parseAbi(['function execute(address target, bytes data)'])
/** Storage slot of MarketOwner's operator. */
const OPERATOR = pad('0x0')
/** Gas that the contract needs for itself and for its call's data; it also covers the part of the gas that a call does not get. */
const OWN_GAS = 200_000n

const execute = call(OWNER, 'execute', OWN_GAS)

/** An account that can make calls in the name of the markets' owner. */
interface Ruler {
  owner: Address
  signer: LocalAccount
  /** Wraps a call into the transaction by which the owner makes it. */
  ordered(call: ContractCall): ContractCall
}

export interface RulerDeps {
  rpc: RpcClient
  writer: ChainWriter
  /** Draws the private key that governs the markets for one change; default: a random secret key. */
  governingKey?: () => Hex
}

/**
 * Makes an account that governs an embedded chain's tokens and markets. Nothing else may change the chain meanwhile. Its key is drawn
 * for one change and then forgotten: it is not written anywhere, and its signatures are worthless on a chain that was reset or
 * copied. The account becomes the operator by a change of storage, which no transaction can make.
 */
async function marketRuler({ rpc, writer, governingKey = SeededRandom.secretKey }: RulerDeps): Promise<Ruler> {
  if ((await rpc.call<Hex>('eth_getCode', MARKET_OWNER, 'latest')) === '0x') return formerRuler()
  const signer = privateKeyToAccount(governingKey())
  await writer.cheat([['anvil_setStorageAt', MARKET_OWNER, OPERATOR, pad(signer.address)]])
  return { owner: MARKET_OWNER, signer, ordered: byOwner }
}

function byOwner({ to, data, gas }: ContractCall): ContractCall {
  return { ...execute(MARKET_OWNER, to, data), gas: gas + OWN_GAS }
}

let developer: LocalAccount | undefined

function formerRuler(): Ruler {
  developer ??= mnemonicToAccount(DEV_MNEMONIC) // derived on first use: it takes a while
  return { owner: developer.address, signer: developer, ordered: (its) => its }
}
