import type { ChainSetup } from '../domain/chain-setup.ts'
import type { SandboxClock } from '../domain/clock.ts'
import type { Chains, WalletOwner } from '../domain/ports/chain.ts'
import type { Journal } from '../domain/ports/journal.ts'
import type { JournalWish } from '../domain/ports/namespace-storage.ts'
import type { Address } from '../domain/records.ts'
import type { Logger } from '../support/logger.ts'
import { allInOrder } from '../support/waiting.ts'
import type { ChainCopies, ChainCopy, ChainStatus } from './anvil-chain.ts'
import { type ArchiveEntry, BlockArchive } from './archive/block-archive.ts'
import { type ChainEntry, ChainJournal, MemoryJournal } from './history/chain-journal.ts'
import type { Checkpoint } from './history/checkpoint.ts'
import { protocolsByName } from './markets/protocols/index.ts'
import { OnDemandChain, type OnDemandOptions } from './on-demand-chain.ts'
import { Wallets } from './wallets/wallet.ts'

/** Dependencies of the chains. */
export interface ChainsOptions
  extends Pick<OnDemandOptions, 'blockTime' | 'renewAfter' | 'governingKey' | 'idleMs' | 'pool' | 'spawned'> {
  chains: readonly ChainSetup[]
  /** The first checkpoint of every embedded chain. */
  embedded: Checkpoint
  /** Opens the journal of that name; default: journals in memory. */
  journal?: <Entry>(name: string, wish?: JournalWish) => Promise<Journal<Entry>>
  /** Copies with which chains begin instead of a first block. They replace the content of the journals. */
  begin?: ChainCopies
  clock: SandboxClock
  /** Seed from which every wallet's key is derived. */
  seed: number
  /** `service.protocols`: the identifiers of Aave V3 and of the vault. */
  protocols: readonly [string, string]
  log: Logger
  /** Milliseconds without an answer before a call to Anvil is given up; default 10 s. */
  rpcTimeout?: number
}

/** Milliseconds that a move of the clock waits for the chains. */
const FOLLOW_TIMEOUT_MS = 3_000

/** The chains of one ledger. Each has an Anvil only while it is needed. */
export class AnvilChains implements Chains {
  readonly #chains: ReadonlyMap<string, OnDemandChain>
  readonly #wallets: Wallets

  constructor(chains: readonly OnDemandChain[], wallets: Wallets) {
    this.#chains = new Map(chains.map((chain) => [chain.chain_id, chain]))
    this.#wallets = wallets
  }

  get(chainId: string): OnDemandChain | undefined {
    return this.#chains.get(chainId)
  }

  all(): OnDemandChain[] {
    return [...this.#chains.values()]
  }

  /** Calls back for each new block of a chain. Returns what ends that. */
  watch(watcher: (chainId: string, number: number) => void): () => void {
    const ends = this.all().map((chain) => chain.watch((number) => watcher(chain.chain_id, number)))
    return () => {
      for (const end of ends) end()
    }
  }

  /** Resolves when the archives of all chains have been read. Throws if one cannot be read. */
  async opened(): Promise<void> {
    await allInOrder(this.all().map((chain) => chain.opened()))
  }

  /**
   * Wakes every chain. When all have started or failed, throws the first `ChainSetupError`, `AnvilStartError` or
   * `AnvilBinaryMissingError`.
   */
  async wake(): Promise<void> {
    await allInOrder(this.all().map((chain) => chain.wake()))
  }

  /**
   * Runs a task while nothing changes any chain, and returns copies with which other chains can begin in the same state. The task
   * must not use the chains. With `condensed`, each history is a checkpoint alone, which does not depend on what an Anvil makes of
   * operations. Throws ChainUnavailableError.
   */
  async copy<Result>(
    whileStill: () => Result | Promise<Result>,
    { condensed = false } = {},
  ): Promise<{ chains: ChainCopies; result: Result }> {
    const chains = new Map<string, ChainCopy>()
    const still = async ([first, ...others]: readonly OnDemandChain[]): Promise<Result> => {
      if (!first) return whileStill()
      return first.still((copy) => {
        chains.set(first.chain_id, copy)
        return still(others)
      }, condensed)
    }
    return { result: await still(this.all()), chains }
  }

  walletAddress(owner: WalletOwner): Address {
    return this.#wallets.of(owner).address
  }

  /** @returns the health of all chains; `reason` names the first that cannot be used. Makes no calls, so it is cheap */
  status(): ChainStatus {
    for (const { chain_id, status } of this.all()) {
      if (!status.ok) return { ok: false, reason: `chain ${chain_id}: ${status.reason}` }
    }
    return { ok: true }
  }

  /** Takes every chain back to its first state. Throws if one cannot be reached. */
  async reset(): Promise<void> {
    await Promise.all(this.all().map((chain) => chain.reset()))
  }

  /** Brings every chain's time up to the clock before it is used: at once if it is awake, or else when it is woken. Throws ChainUnavailableError. */
  async goOn(): Promise<void> {
    await Promise.all(this.all().map((chain) => chain.goOn()))
  }

  /** Brings every chain's time up to the clock; returns the reason if a chain does not follow within {@link FOLLOW_TIMEOUT_MS}, instead of throwing. */
  async follow(clock: SandboxClock): Promise<ChainStatus> {
    const late = clock.wallSleep(FOLLOW_TIMEOUT_MS).then(() => {
      throw new Error(`no block of the new time within ${FOLLOW_TIMEOUT_MS / 1_000} s`)
    })
    late.catch(() => {})
    for (const chain of this.all()) {
      try {
        await Promise.race([chain.catchUp(), late])
      } catch (error) {
        return { ok: false, reason: `chain ${chain.chain_id}: ${error instanceof Error ? error.message : error}` }
      }
    }
    return { ok: true }
  }

  /** Ends every Anvil. May be called again. */
  async stop(): Promise<void> {
    await Promise.all(this.all().map((chain) => chain.stop()))
  }
}

/** Starts every chain; if one fails, stops all. Throws `ChainSetupError`, `AnvilStartError` or `AnvilBinaryMissingError`. */
export async function startAnvilChains(options: ChainsOptions): Promise<AnvilChains> {
  const wallets = new Wallets(options.seed)
  const spawned = () => {
    options.spawned?.()
    wallets.load().catch(() => undefined) // awaited below; an Anvil comes up meanwhile
  }
  const chains = await beginToOpen({ ...options, spawned }, wallets)
  const woken = chains.wake() // archives are read while Anvils come up
  return orStop(
    chains,
    woken.then(() => wallets.load()),
  )
}

/** Opens the journals and archives of the chains. Does not start Anvils: the first use of a chain does. */
export async function openChains(options: ChainsOptions): Promise<AnvilChains> {
  const wallets = new Wallets(options.seed)
  await wallets.load()
  const chains = await beginToOpen(options, wallets)
  return orStop(chains, chains.opened())
}

async function orStop(chains: AnvilChains, done: Promise<void>): Promise<AnvilChains> {
  try {
    await done
    return chains
  } catch (error) {
    await chains.stop()
    throw error
  }
}

/** Makes the chains while their archives are still being read. */
async function beginToOpen(options: ChainsOptions, wallets: Wallets): Promise<AnvilChains> {
  const protocols = protocolsByName(options.protocols)
  const opened = await Promise.allSettled(
    options.chains.map(async (setup) => {
      const history = await openHistory(setup.chain_id, options)
      return new OnDemandChain({ ...options, ...history, setup, wallets, protocols })
    }),
  )
  const chains = new AnvilChains(
    opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
    wallets,
  )
  const failed = opened.find((result) => result.status === 'rejected')
  if (!failed) return chains
  await chains.stop()
  throw failed.reason
}

async function openHistory(chainId: string, { journal: open, begin }: ChainsOptions) {
  const copy = begin?.get(chainId)
  const journal = new ChainJournal((await open?.<ChainEntry>(`chain-${chainId}`)) ?? new MemoryJournal())
  const archive = new BlockArchive(open?.<ArchiveEntry>(`blocks-${chainId}`, { unhurried: true }), copy?.archived)
  if (copy) {
    await archive.opened
    await journal.replace(copy.history)
  }
  return { journal, archive, begin: copy }
}
