import type { ChainSetup } from '../domain/chain-setup.ts'
import type { SandboxClock } from '../domain/clock.ts'
import type { Chains, WalletOwner } from '../domain/ports/chain.ts'
import type { Journal } from '../domain/ports/journal.ts'
import type { Address } from '../domain/records.ts'
import type { Logger } from '../support/logger.ts'
import { AnvilChain, type AnvilChainOptions, type ChainStatus } from './anvil-chain.ts'
import { BlockArchive } from './archive/block-archive.ts'
import { type ChainEntry, ChainJournal, MemoryJournal } from './history/chain-journal.ts'
import type { Checkpoint } from './history/checkpoint.ts'
import { protocolsByName } from './markets/protocols/index.ts'
import { Wallets } from './wallets/wallets.ts'

/** What the chains are started with. */
export interface ChainsOptions extends Pick<AnvilChainOptions, 'renewAfter'> {
  chains: readonly ChainSetup[]
  /** What every embedded chain begins with. */
  embedded: Checkpoint
  /** Where chains are kept, by name; default: in memory. */
  journal?: <Entry>(name: string) => Promise<Journal<Entry>>
  clock: SandboxClock
  /** Every wallet's key derives from it. */
  seed: number
  /** `service.protocols`: Aave V3's identifier, the vault's. */
  protocols: readonly [string, string]
  log: Logger
  /** Milliseconds without an answer before a call to Anvil is given up; default 10 s. */
  rpcTimeout?: number
}

/** Milliseconds that whoever moved the clock waits for the chains. */
const FOLLOW_TIMEOUT_MS = 3_000

/** The chains on their Anvil processes. */
export class AnvilChains implements Chains {
  readonly #chains: ReadonlyMap<string, AnvilChain>
  readonly #wallets: Wallets

  constructor(chains: readonly AnvilChain[], wallets: Wallets) {
    this.#chains = new Map(chains.map((chain) => [chain.chain_id, chain]))
    this.#wallets = wallets
  }

  get(chainId: string): AnvilChain | undefined {
    return this.#chains.get(chainId)
  }

  all(): AnvilChain[] {
    return [...this.#chains.values()]
  }

  walletAddress(owner: WalletOwner): Address {
    return this.#wallets.of(owner).address
  }

  /** Whether every chain can be worked with; `reason` names the first that cannot. Asks nobody, so it is free. */
  status(): ChainStatus {
    for (const { chain_id, status } of this.all()) {
      if (!status.ok) return { ok: false, reason: `chain ${chain_id}: ${status.reason}` }
    }
    return { ok: true }
  }

  /** Every chain back to the state it started with. Throws when one cannot be reached. */
  async reset(): Promise<void> {
    await Promise.all(this.all().map((chain) => chain.reset()))
  }

  /** Brings every chain's time up to the clock. */
  async catchUp(): Promise<void> {
    await Promise.all(this.all().map((chain) => chain.catchUp()))
  }

  /** As {@link catchUp}, but says of chains that do not follow, or not within a few seconds, why not. */
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

  /** Undoes whatever controls may have done to the markets of embedded chains. */
  async mend(): Promise<void> {
    await Promise.all(this.all().map((chain) => chain.mend()))
  }

  /** Ends every Anvil. May be called again. */
  async stop(): Promise<void> {
    await Promise.all(this.all().map((chain) => chain.stop()))
  }
}

/** Starts every chain; if one fails, none is left running. Throws `AnvilStartError` or `AnvilBinaryMissingError`. */
export async function startAnvilChains(options: ChainsOptions): Promise<AnvilChains> {
  const wallets = await Wallets.load(options.seed)
  const protocols = protocolsByName(options.protocols)
  const started = await Promise.allSettled(
    options.chains.map(async (setup) => {
      const kept = await openHistory(setup.chain_id, options.journal)
      return AnvilChain.start({ ...options, ...kept, setup, wallets, protocols })
    }),
  )
  const chains = new AnvilChains(
    started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
    wallets,
  )
  const failed = started.find((result) => result.status === 'rejected')
  if (!failed) return chains
  await chains.stop()
  throw failed.reason
}

async function openHistory(chainId: string, open: ChainsOptions['journal'] = async () => new MemoryJournal()) {
  const journal = new ChainJournal(await open<ChainEntry>(`chain-${chainId}`))
  return { journal, archive: await BlockArchive.open(await open(`blocks-${chainId}`)) }
}
