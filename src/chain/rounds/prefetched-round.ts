import type { ChainReader } from '../reading/chain-reader.ts'
import { type Round, readRound, type TransferJob } from './transfer-round.ts'

interface Ahead {
  jobs: readonly TransferJob[]
  round: Promise<Round | undefined>
  /** Version of the chain's state that was read; undefined until it is known. */
  version?: number
}

/** Reads what the next round needs while the last one's block is kept and settled: the node would have nothing to do. */
export class PrefetchedRound {
  readonly #reader: ChainReader
  #ahead: Ahead | undefined

  constructor(reader: ChainReader) {
    this.#reader = reader
  }

  /** Begins to read for those who wait. Call when the round's block stands, and nothing else is to change the chain. */
  begin(jobs: readonly TransferJob[]): void {
    if (jobs.length === 0) return
    const round = readRound(this.#reader, jobs).catch(() => undefined) // it is read again
    this.#ahead = { jobs, round }
  }

  /** Call when the round went as it should: what was read holds until the chain's state changes. */
  hold(): void {
    if (this.#ahead) this.#ahead.version = this.#reader.version
  }

  drop(): void {
    this.#ahead = undefined
  }

  /** What was read, if it still is what the chain says, and for the first of those who wait. */
  take(waiting: readonly TransferJob[]): Pick<Ahead, 'jobs' | 'round'> | undefined {
    const ahead = this.#ahead
    this.#ahead = undefined
    if (ahead?.version !== this.#reader.version) return undefined
    return ahead.jobs.every((job, i) => job === waiting[i]) ? ahead : undefined
  }
}
