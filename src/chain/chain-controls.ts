import { type LocalAccount, mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'
import { keccak256, numberToHex, pad, parseAbi, slice } from 'viem/utils'
import { type ChainSetup, MARKET_OWNER, type PoolFacts } from '../domain/chain-setup.ts'
import type { ChainControls } from '../domain/ports/chain.ts'
import type { Address, Hex } from '../domain/records.ts'
import { SeededRandom } from '../support/random.ts'
import { type ChainJournal, type History, NOBODY } from './history/chain-journal.ts'
import { type RpcClient, SenselessAnswerError, soundly } from './json-rpc/rpc-client.ts'
import { balanceOf } from './markets/protocols/erc20.ts'
import { type ContractCall, call, type MarketAdmin } from './markets/protocols/protocol.ts'
import type { NodeSupervisor } from './node/node-supervisor.ts'
import type { ChainReader } from './reading/chain-reader.ts'
import type { BlockProducer } from './rounds/block-producer.ts'
import type { Receipt } from './rounds/deliver-receipts.ts'
import { dealing } from './wallets/wallet.ts'
import type { ChainWriter } from './writing/chain-writer.ts'

/** The highest yield a market can be told to pay: 10,000 %. */
const MAX_APY = 100

/** What faults do to a chain: see `ChainControls`. All but pausing happens between two rounds of transfers. */
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

  /** The client is told first: whoever waits for an answer now is refused at once instead of waiting for a time-out. */
  pause(): void {
    if (this.#release) return
    this.#release = this.#deps.rpc.hold('paused by a fault')
    this.#deps.supervisor.suspend()
  }

  /** @returns true if it was paused. */
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
   * Moves the tokens that could pay withdrawals to an account that stands for the pool's borrowers, or all of them back. The
   * chain itself is the record of what is away, so that a restart finds it.
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

  /** Makes calls as the markets' owner and mines them, in order, between two rounds of transfers. */
  #administer(plan: (owner: Address) => Promise<ContractCall[]>): Promise<void> {
    return this.#exclusively(() => this.#carryOut(plan))
  }

  /** With the chain to itself. Throws ChainUnsoundError when the chain answers, and not as it should. */
  #exclusively(task: () => Promise<void>): Promise<void> {
    const { chainId, producer } = this.#deps
    return soundly(chainId, () => producer.exclusive(task))
  }

  /** For whoever has the chain to itself. */
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

/** The account that holds what an illiquid market lacks: one for each market; nobody has a key to it. */
function borrowerFrom(payer: Address): Address {
  return slice(keccak256(payer), 12)
}

export interface ControlledDeps extends RulerDeps {
  chainId: string
  setup: Pick<ChainSetup, 'fork'>
  reader: ChainReader
  journal: ChainJournal
  producer: BlockProducer
  supervisor: Pick<NodeSupervisor, 'suspend' | 'resume' | 'replace'>
  /** Whoever a pool's protocol gives the say. */
  admin(pool: PoolFacts): MarketAdmin
}

/**
 * What the chain would be had its last block been mined for somebody else: the same transactions at the same time, and so
 * the same effect, but another hash. An empty block is mined for it when the last one cannot be told from its journal.
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

/** Anvil's development accounts: the first owns the markets of chains that were made before a contract did. */
const DEV_MNEMONIC = 'test test test test test test test test test test test junk'

/** contracts/MarketOwner.sol */
const OWNER = parseAbi(['function execute(address target, bytes data)'])
/** Where MarketOwner keeps its operator. */
const OPERATOR = pad('0x0')
/** What the contract takes for itself and for its call's data, and more than the part of the gas that a call is not given. */
const OWN_GAS = 200_000n

const execute = call(OWNER, 'execute', OWN_GAS)

/** Whoever can make calls in the name of the markets' owner. */
interface Ruler {
  owner: Address
  signer: LocalAccount
  /** The transaction that has the owner make a call. */
  ordered(call: ContractCall): ContractCall
}

export interface RulerDeps {
  rpc: RpcClient
  writer: ChainWriter
  /** Draws the private key that governs the markets for a moment; default: one that nobody can guess. */
  governingKey?: () => Hex
}

/**
 * Lends somebody the say over an embedded chain's tokens and markets; call while nobody else changes the chain. The key is
 * drawn for what is done now and forgotten with it: it is written nowhere, and what it signed is good for nothing on a chain
 * that was reset or copied. The chain is told whose it is by a change of its storage, which no transaction can make.
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
