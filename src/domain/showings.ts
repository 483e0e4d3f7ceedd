import type { Logger } from '../support/logger.ts'
import type { SandboxClock } from './clock.ts'
import type { Journal } from './ports/journal.ts'
import type { Portfolio, Showing } from './records.ts'

/** Longest time, in milliseconds of real time, for which the showings of a list are in memory only. */
const KEPT_WITHIN = 100
const SHOWINGS_PER_ENTRY = 1_000
/** Least number of superseded showings for which a journal is rewritten. */
const MUCH_GARBAGE = 10_000

/**
 * The worth of every portfolio as the API last showed it, in an answer that was received (assumption `withdraw-all`). It keeps one
 * showing per portfolio in memory and writes them down: those of transfers at once, those of lists within a tenth of a second, so that
 * a list costs no write. A process that is killed forgets the lists of that last tenth.
 */
export class Showings {
  /** Starts from the journal's content, or replaces that content with `begin`. */
  static async open(deps: ShowingsDeps, begin?: readonly Showing[]): Promise<Showings> {
    const showings = new Showings(deps)
    if (begin) await deps.journal?.rewrite(inEntries(begin))
    for await (const entry of (begin ? inEntries(begin) : deps.journal?.read()) ?? []) {
      for (const showing of entry) showings.#last.set(showing.portfolio_id, showing)
      showings.#written += entry.length
    }
    return showings
  }

  /** The last showing of every portfolio. */
  all(): Showing[] {
    return [...this.#last.values()]
  }

  readonly #deps: ShowingsDeps
  readonly #last = new Map<string, Showing>()
  readonly #unkept = new Map<string, Showing>()
  /** Showings in the journal, superseded ones included. */
  #written = 0
  #writeDue = false
  #writing = false

  private constructor(deps: ShowingsDeps) {
    this.#deps = deps
  }

  /**
   * Notes the showings of an answer; call it when the answer was received. `again`: the answer repeats an old one, which shows nothing
   * new to a client that has seen a later one. `ofTransfer`: it answers a transfer.
   */
  note(shown: readonly Showing[], { again = false, ofTransfer = false } = {}): void {
    for (const showing of shown) {
      const { portfolio_id } = showing
      const last = this.#last.get(portfolio_id)
      const [before, now] = [last?.last_transaction_id ?? '', showing.last_transaction_id ?? '']
      // A slow list may have been read before a transfer whose result a quicker answer has shown. Ids increase, so they give the order.
      if (before > now || (again && last && before === now)) continue
      this.#last.set(portfolio_id, showing)
      if (this.#deps.journal) this.#unkept.set(portfolio_id, showing)
    }
    if (this.#unkept.size > 0) void (ofTransfer ? this.#keepAtOnce() : this.#keepSoon())
  }

  /** The last showing of a portfolio since its last transaction, that transaction's answer included; undefined if there is none. */
  of({
    portfolio_id,
    last_transaction_id,
  }: Pick<Portfolio, 'portfolio_id' | 'last_transaction_id'>): Showing | undefined {
    const last = this.#last.get(portfolio_id)
    return last?.last_transaction_id === last_transaction_id ? last : undefined
  }

  /** Writes down the pending showings. @returns true if they were written, false if that is impossible now */
  async keep(): Promise<boolean> {
    const { journal, log } = this.#deps
    const unkept = [...this.#unkept.values()]
    if (!journal || unkept.length === 0) return true
    this.#unkept.clear()
    try {
      if (this.#written > 2 * this.#last.size + MUCH_GARBAGE) {
        await journal.rewrite(inEntries([...this.#last.values()]))
        this.#written = this.#last.size
      } else {
        this.#written += unkept.length
        await Promise.all(inEntries(unkept).map((entry) => journal.append(entry)))
      }
      return true
    } catch (error) {
      log.warn({ err: error }, 'what answers showed was not written down; it is tried again with the next')
      for (const showing of unkept) {
        if (!this.#unkept.has(showing.portfolio_id)) this.#unkept.set(showing.portfolio_id, showing)
      }
      return false
    }
  }

  /** Forgets everything: for a reset. */
  async clear(): Promise<void> {
    this.#last.clear()
    this.#unkept.clear()
    await this.#deps.journal?.rewrite([])
    this.#written = 0
  }

  /** Writes also the showings that arrive during the write. */
  async #keepAtOnce(): Promise<void> {
    if (this.#writing) return
    this.#writing = true
    // Showings that could not be written are tried again with the next ones.
    while (this.#unkept.size > 0 && (await this.keep())) {}
    this.#writing = false
  }

  async #keepSoon(): Promise<void> {
    if (this.#writeDue) return
    this.#writeDue = true
    await this.#deps.clock.wallSleep(KEPT_WITHIN)
    this.#writeDue = false
    await this.keep()
  }
}

function inEntries(showings: readonly Showing[]): Showing[][] {
  const entries: Showing[][] = []
  for (let at = 0; at < showings.length; at += SHOWINGS_PER_ENTRY) {
    entries.push(showings.slice(at, at + SHOWINGS_PER_ENTRY))
  }
  return entries
}

/** Dependencies of {@link Showings}. */
export interface ShowingsDeps {
  /** Present if the sandbox has a data directory. */
  journal: Journal<Showing[]> | undefined
  clock: SandboxClock
  log: Logger
}
