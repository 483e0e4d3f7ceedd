import type { SandboxClock } from '../../domain/clock.ts'
import type { Hex } from '../../domain/records.ts'
import { inTime } from '../../support/waiting.ts'
import { type Block, LAST_TIMESTAMP, LATEST_BLOCK } from '../json-rpc/block.ts'
import { type RpcCall, type RpcClient, RpcError, SenselessAnswerError } from '../json-rpc/rpc-client.ts'
import { BatchLoader, MOST_VIEWS, multicall, outcomesOf, type ViewOutcome } from './multicall.ts'
import type { Read, ViewResults } from './view.ts'

/** Values, or the errors that prevented reading them, and the chain time (Unix seconds) at which they were read. */
export interface Snapshot<Result> {
  timestamp: number
  values: (Result | Error)[]
  /** Undecoded results of the other calls. */
  results: unknown[]
}

/** Milliseconds that a read waits for the node: after five seconds, clients would take the sandbox for hung. */
const READ_TIMEOUT_MS = 4_000

/**
 * Reads the chain. Every read is made at the chain's present, as if a block were being mined at that moment: the time of the sandbox
 * clock, or the latest block's timestamp if that is ahead.
 */
export class ChainReader {
  readonly #rpc: RpcClient
  readonly #clock: SandboxClock
  readonly #patience: number
  readonly #reads = new BatchLoader<Read<unknown>, unknown>(keyOf, async (reads) => (await this.snapshot(reads)).values)
  #latest = 0
  #version = 0

  /** @param patience milliseconds that a read waits for the node; default 4 s */
  constructor(rpc: RpcClient, clock: SandboxClock, patience = READ_TIMEOUT_MS) {
    this.#rpc = rpc
    this.#clock = clock
    this.#patience = patience
  }

  /** Number that grows with everything that may change an answer: our blocks, and other changes reported by {@link changed}. */
  get version(): number {
    return this.#version
  }

  /** Timestamp of the latest known block in Unix seconds. */
  get latest(): number {
    return this.#latest
  }

  /** Timestamp in Unix seconds that a block mined now would get: chain time never goes back. */
  get present(): number {
    return Math.max(this.#latest, Math.floor(this.#clock.now() / 1000))
  }

  /** Call after each new block, with its timestamp, and after anything else that may change an answer. */
  changed(latestTimestamp?: number): void {
    this.#version++
    if (latestTimestamp !== undefined) this.#latest = latestTimestamp
  }

  /** Awaits a task that uses the node. Throws ChainUnavailableError when that takes too long, while the task goes on. */
  inTime<Result>(task: Promise<Result>): Promise<Result> {
    return inTime(task, this.#clock.wallSleep(this.#patience), () => this.#rpc.late(this.#patience))
  }

  /** Fetches the latest block, which may have been mined from outside, and takes over its time. Returns its number. */
  async refresh(): Promise<number> {
    const block = await this.#rpc.call<Block>(...LATEST_BLOCK)
    this.changed(timestampOf(block))
    return Number(block.number)
  }

  /**
   * Reads views at the chain's present, in one round trip with all other reads of the same turn of the event loop.
   * Throws if one of the views cannot be read.
   */
  read = async <const Reads extends readonly Read<unknown>[]>(reads: Reads): Promise<ViewResults<Reads>> => {
    const values = await this.#reads.load(reads)
    for (const value of values) if (value instanceof Error) throw value
    return values as ViewResults<Reads>
  }

  /**
   * Reads views at the chain's present and makes other calls, in a round trip of their own. A view that cannot be read does not
   * affect the others; an error of one of the other calls is thrown.
   */
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
        this.changed(latest) // a block was mined from outside, ahead of the clock
        continue
      }
      const results = answers.splice(0, calls.length)
      for (const result of results) if (result instanceof RpcError) throw result
      const outcomes = new Map(batches.flatMap(({ views }, index) => outcomesBy([...views.keys()], answers[index])))
      return { timestamp, results, values: keyed.map(([key, read]) => decoded(read, outcomes.get(key))) }
    }
  }
}

/** @returns a key that is equal for reads with the same answer */
function keyOf({ to, data, ahead = 0 }: Read<unknown>): string {
  return `${to} ${data} ${ahead}`
}

/** Views by key that are called together, `ahead` seconds after the chain's present. */
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
