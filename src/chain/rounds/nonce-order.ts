import { SenselessAnswerError } from '../json-rpc/senseless-answer.ts'
import type { Round } from './transfer-round.ts'

/** With more wallets than this, it forgets all of them. */
const MOST_WALLETS = 10_000

/**
 * Knows which nonce each wallet signs next: the one after the last it signed. A chain that names another one has lost a
 * transfer, or got one that nobody knows of; whatever is signed then takes the place of another transfer, or never fits
 * into a block.
 */
export class NonceOrder {
  readonly #next = new Map<string, number>()
  #foreignChanges = 0

  /**
   * Takes the jobs of wallets for which the chain names another nonce than the next one out of a round, with why. Knows
   * nothing more when others have changed the chain since the last round: they may have sent anything in a wallet's name.
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

  /** Call when wallets have signed, with the next nonce of each. */
  signed(next: ReadonlyMap<string, number>): void {
    if (this.#next.size >= MOST_WALLETS) this.clear()
    for (const [wallet, nonce] of next) this.#next.set(wallet, nonce)
  }

  /** Call when a signed transfer is given up, or the chain begins anew. */
  clear(): void {
    this.#next.clear()
  }
}
