import type { SandboxClock } from '../../domain/clock.ts'
import type { Hex } from '../../domain/records.ts'
import { inTime } from '../../support/waiting.ts'
import { BatchLoader } from '../json-rpc/batch-loader.ts'
import { type Block, LAST_TIMESTAMP, LATEST_BLOCK } from '../json-rpc/block.ts'
import { type RpcCall, type RpcClient, RpcError, SenselessAnswerError } from '../json-rpc/rpc-client.ts'
import { MOST_VIEWS, multicall, outcomesOf, type ViewOutcome } from './multicall.ts'
import type { Read, ViewResults } from './view.ts'

/** What was read, each value or why it could not be, and for which chain time (Unix seconds). */
export interface Snapshot<Result> {
  timestamp: number
  values: (Result | Error)[]
  /** Plain results of the other calls. */
  results: unknown[]
}

/** Milliseconds that whoever reads waits for the node: after five, the sandbox would be taken for hung. */
const READ_TIMEOUT_MS = 4_000

/**
 * What the chain says. Every read is made at the chain's present: the sandbox clock, or the latest block's timestamp
 * should that be ahead, as if a block were being mined at that moment.
 */
export class ChainReader {
  readonly #rpc: RpcClient
  readonly #clock: SandboxClock
  readonly #patience: number
  readonly #reads = new BatchLoader<Read<unknown>, unknown>(keyOf, async (reads) => (await this.snapshot(reads)).values)
  #latest = 0
  #version = 0

  /** `patience`: milliseconds that whoever reads waits for the node; default 4 s. */
  constructor(rpc: RpcClient, clock: SandboxClock, patience = READ_TIMEOUT_MS) {
    this.#rpc = rpc
    this.#clock = clock
    this.#patience = patience
  }

  /** Counts what may have changed any answer: our blocks and whatever else is told to {@link changed}. */
  get version(): number {
    return this.#version
  }

  /** The latest block's timestamp in Unix seconds, as far as we know. */
  get latest(): number {
    return this.#latest
  }

  /** The timestamp a block mined now gets, in Unix seconds: chain time never goes back. */
  get present(): number {
    return Math.max(this.#latest, Math.floor(this.#clock.now() / 1000))
  }

  /** Call after each new block, with its timestamp, and after anything else that may change an answer. */
  changed(latestTimestamp?: number): void {
    this.#version++
    if (latestTimestamp !== undefined) this.#latest = latestTimestamp
  }

  /** What a task comes to that the node is needed for. Throws ChainUnavailableError when that takes too long: it goes on. */
  inTime<Result>(task: Promise<Result>): Promise<Result> {
    return inTime(task, this.#clock.wallSleep(this.#patience), () => this.#rpc.late(this.#patience))
  }

  /** Asks the chain for its latest block, which is another than we know of if others mined. Returns its number. */
  async refresh(): Promise<number> {
    const block = await this.#rpc.call<Block>(...LATEST_BLOCK)
    this.changed(timestampOf(block))
    return Number(block.number)
  }

  /**
   * Views at the chain's present, in one round trip with all others asked for within the same turn of the event loop.
   * Throws when one of them cannot be read.
   */
  read = async <const Reads extends readonly Read<unknown>[]>(reads: Reads): Promise<ViewResults<Reads>> => {
    const values = await this.#reads.load(reads)
    for (const value of values) if (value instanceof Error) throw value
    return values as ViewResults<Reads>
  }

  /** Views at the chain's present and other calls, in a round trip of their own; a view that cannot be read spoils no other. */
  async snapshot<Result>(reads: readonly Read<Result>[], calls: readonly RpcCall[] = []): Promise<Snapshot<Result>> {
    const keyed = reads.map((read) => [keyOf(read), read] as const)
    const batches = batchesOf(new Map(keyed))
    for (;;) {
      const timestamp = this.present
      const [block, ...answers] = await this.inTime(
        this.#rpc.settle([
          LATEST_BLOCK,
          ...calls,
          ...batches.map(({ ahead, views }) => multicall([...views.values()], timestamp + ahead)),
        ]),
      )
      const latest = timestampOf(block)
      if (latest > timestamp) {
        this.changed(latest) // somebody else mined, ahead of the clock
        continue
      }
      const results = answers.splice(0, calls.length)
      for (const result of results) if (result instanceof RpcError) throw result
      const outcomes = new Map(batches.flatMap(({ views }, index) => outcomesBy([...views.keys()], answers[index])))
      return { timestamp, results, values: keyed.map(([key, read]) => decoded(read, outcomes.get(key))) }
    }
  }
}

/** Reads with the same key have the same answer. */
function keyOf({ to, data, ahead = 0 }: Read<unknown>): string {
  return `${to} ${data} ${ahead}`
}

/** Views to be called together, by their keys, at so many seconds after the chain's present. */
interface Batch {
  ahead: number
  views: Map<string, Read<unknown>>
}

function batchesOf(reads: ReadonlyMap<string, Read<unknown>>): Batch[] {
  const batches: Batch[] = []
  const filling = new Map<number, Batch>()
  for (const [key, read] of reads) {
    const { ahead = 0 } = read
    let batch = filling.get(ahead)
    if (!batch || batch.views.size === MOST_VIEWS) {
      batch = { ahead, views: new Map() }
      filling.set(ahead, batch)
      batches.push(batch)
    }
    batch.views.set(key, read)
  }
  return batches
}

function outcomesBy(keys: readonly string[], answer: unknown): [key: string, outcome: ViewOutcome][] {
  if (answer instanceof RpcError) return keys.map((key) => [key, answer])
  return outcomesOf(answer as Hex, keys.length).map((outcome, i) => [keys[i] ?? '', outcome])
}

function decoded<Result>(read: Read<Result>, output: ViewOutcome | undefined): Result | Error {
  if (output instanceof RpcError) return output
  try {
    return read.decode(output as Hex)
  } catch (cause) {
    return new SenselessAnswerError(`${read.to} gave no answer that makes sense: is it the contract it should be?`, {
      cause,
    })
  }
}

function timestampOf(block: unknown): number {
  if (block instanceof RpcError) throw block
  const timestamp = Number((block as { timestamp: Hex }).timestamp)
  if (timestamp <= LAST_TIMESTAMP) return timestamp
  throw new SenselessAnswerError(`its time is ${timestamp}, beyond counting`)
}
