import type { AnvilChains } from '../chain/anvil-chains.ts'
import type { ChainTime } from '../control/contract.ts'
import type { SandboxClock } from '../domain/clock.ts'
import type { Chain, Chains, WalletOwner } from '../domain/ports/chain.ts'
import type { Address } from '../domain/records.ts'

/** The chains while they start: the server listens already, and the pipeline lets nothing through to them. */
export class PendingChains implements Chains {
  #started: AnvilChains | undefined

  /** Puts the started chains in their place. */
  resolve(chains: AnvilChains): void {
    this.#started = chains
  }

  get started(): AnvilChains | undefined {
    return this.#started
  }

  /** Has every chain mine a block of the clock's present, and says whether it has one: in some seconds at most. */
  async follow(clock: SandboxClock): Promise<ChainTime> {
    return this.#started ? this.#started.follow(clock) : { ok: false, reason: 'the chains are starting' }
  }

  get(chainId: string): Chain | undefined {
    return this.#require().get(chainId)
  }

  all(): Chain[] {
    return this.#require().all()
  }

  walletAddress(owner: WalletOwner): Address {
    return this.#require().walletAddress(owner)
  }

  #require(): AnvilChains {
    if (!this.#started) throw new Error('the chains have not started')
    return this.#started
  }
}
