import { OPERATIONS, type Operation } from '../domain/operations.ts'

/** What is counted apart; `unknown` has the requests for paths that nothing serves. */
export const COUNTED_OPERATIONS = [...OPERATIONS, 'unknown'] as const
/** Ends of a request, by the status of its answer; `none`: no whole answer reached the client. */
export const OUTCOMES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const
/** One of {@link OUTCOMES}. */
export type CountedOutcome = (typeof OUTCOMES)[number]
/** Upper bounds of the latencies that are counted together, in milliseconds, each inclusive; longer ones follow the last. */
export const LATENCY_BOUNDS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000] as const

const NONE = OUTCOMES.length - 1
const UNKNOWN = OPERATIONS.length
const PLACES = new Map<string, number>(OPERATIONS.map((name, place) => [name, place]))
const BUCKETS = LATENCY_BOUNDS.length + 1

/** Latencies of an operation's requests. */
export interface Latencies {
  /** How many were within each of {@link LATENCY_BOUNDS} and above the one before it; the last number: above all. */
  counts: readonly number[]
  /** Milliseconds of all together. */
  sum: number
}

/** Counts of a namespace's requests that are over. To count one costs some ten nanoseconds: no object is made. */
export class RequestCounts {
  /** When the last one was over, in milliseconds since the Unix epoch; 0 for none. */
  lastAt = 0
  readonly #outcomes = new Float64Array(COUNTED_OPERATIONS.length * OUTCOMES.length)
  readonly #latencies = new Float64Array(COUNTED_OPERATIONS.length * BUCKETS)
  readonly #sums = new Float64Array(COUNTED_OPERATIONS.length)

  /** Counts a request that is over. `status`: of the answer that was handed over, 0 for none; `ms`: its length; `at`: its end. */
  take(operation: Operation | null, status: number, ms: number, at: number): void {
    const place = operation === null ? UNKNOWN : (PLACES.get(operation) ?? UNKNOWN)
    const hundreds = Math.floor(status / 100)
    const outcome = place * OUTCOMES.length + (hundreds >= 2 && hundreds <= 5 ? hundreds - 2 : NONE)
    this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1
    let bucket = place * BUCKETS
    for (const bound of LATENCY_BOUNDS) {
      if (ms <= bound) break
      bucket++
    }
    this.#latencies[bucket] = (this.#latencies[bucket] ?? 0) + 1
    this.#sums[place] = (this.#sums[place] ?? 0) + ms
    this.lastAt = at
  }

  /** Adds what others have counted. */
  add(others: RequestCounts): void {
    const sum = (own: Float64Array, further: Float64Array) => {
      for (const [i, count] of further.entries()) own[i] = (own[i] ?? 0) + count
    }
    sum(this.#outcomes, others.#outcomes)
    sum(this.#latencies, others.#latencies)
    sum(this.#sums, others.#sums)
    this.lastAt = Math.max(this.lastAt, others.lastAt)
  }

  get total(): number {
    return this.#outcomes.reduce((sum, count) => sum + count, 0)
  }

  /** Number of requests that ended so, of one operation or of all. */
  count(outcome: CountedOutcome, operation?: (typeof COUNTED_OPERATIONS)[number]): number {
    const at = OUTCOMES.indexOf(outcome)
    const places = operation === undefined ? COUNTED_OPERATIONS.keys() : [COUNTED_OPERATIONS.indexOf(operation)]
    let sum = 0
    for (const place of places) sum += this.#outcomes[place * OUTCOMES.length + at] ?? 0
    return sum
  }

  latencies(operation: (typeof COUNTED_OPERATIONS)[number]): Latencies {
    const place = COUNTED_OPERATIONS.indexOf(operation)
    const counts = this.#latencies.slice(place * BUCKETS, (place + 1) * BUCKETS)
    return { counts: [...counts], sum: this.#sums[place] ?? 0 }
  }
}

/** Number of namespaces that have a series of their own in the metrics. */
const MOST_NAMED = 100

/**
 * The counts of all namespaces of a sandbox. The first {@link MOST_NAMED} are told apart by name, each until it is deleted; all others
 * are one group for good, so that no sum of theirs ever decreases.
 */
export class RequestMeter {
  readonly #named = new Map<string, RequestCounts>()
  readonly #others = new Map<string, RequestCounts>()
  /** Of deleted namespaces. */
  readonly #gone = { named: new RequestCounts(), others: new RequestCounts() }
  readonly #mostNamed: number

  constructor(mostNamed = MOST_NAMED) {
    this.#mostNamed = mostNamed
  }

  /** The counts of the namespace of that name, made at the first call. */
  of(name: string): RequestCounts {
    const known = this.find(name)
    if (known) return known
    const made = new RequestCounts()
    const group = this.#named.size < this.#mostNamed ? this.#named : this.#others
    group.set(name, made)
    return made
  }

  /** The counts of that namespace; undefined if it has never been open. */
  find(name: string): RequestCounts | undefined {
    return this.#named.get(name) ?? this.#others.get(name)
  }

  /** Call when nothing is left of that namespace. */
  forget(name: string): void {
    const [named, other] = [this.#named.get(name), this.#others.get(name)]
    if (named) this.#gone.named.add(named)
    if (other) this.#gone.others.add(other)
    this.#named.delete(name)
    this.#others.delete(name)
  }

  /** The namespaces that are told apart, by name. */
  get named(): ReadonlyMap<string, RequestCounts> {
    return this.#named
  }

  /** The counts of all that are not told apart, deleted ones included; undefined as long as there was none. */
  get others(): RequestCounts | undefined {
    const all = sumOf([this.#gone.others, ...this.#others.values()])
    return this.#others.size > 0 || all.total > 0 ? all : undefined
  }

  /** The counts of all namespaces, deleted ones included. */
  get all(): RequestCounts {
    const { named, others } = this.#gone
    return sumOf([named, others, ...this.#named.values(), ...this.#others.values()])
  }
}

function sumOf(counts: Iterable<RequestCounts>): RequestCounts {
  const sum = new RequestCounts()
  for (const one of counts) sum.add(one)
  return sum
}
