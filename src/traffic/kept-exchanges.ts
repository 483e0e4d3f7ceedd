import { jsonObject } from '../support/json.ts'
import { rawHeaderOf } from './headers.ts'
import { bounded, type LiveExchange, RECORD_BYTES, STEP_BYTES, STEP_FIELDS } from './live-exchange.ts'

/** Maximum number of kept exchanges. */
const MAX_KEPT = 10_000
/** Maximum length of a kept body, in UTF-16 code units: that of a transfer takes a hundred. */
const MAX_TEXT = 2 * 1024
/** Number of lists kept for the transaction of one write: a client that finds it finds it in the first. */
const LISTS_OF_WRITE = 4
/** Number of an end user's newest writes whose transactions are looked for in lists. */
const SOUGHT_OF_USER = 10

/** Counts of recorded exchanges of operations that are gone, by reason. */
export interface Forgotten {
  /** There was no room for them. */
  room: number
  /** A client of the control interface deleted them. */
  deleted: number
  /** A reset deleted them, or they had been forgotten for another reason before it. */
  reset: number
}

/** A kept exchange, and facts that the record holds elsewhere. */
export interface KeptExchange {
  live: LiveExchange
  request_id: string
  ordinal: number
}

interface Entry extends KeptExchange {
  /** Bytes. */
  size: number
  key: string | undefined
  /** Number of kept lists that show its transaction. */
  lists: number
}

/**
 * Exchanges that a verdict on transfers needs, kept when the record has no room for them: every write, and the first lists that
 * show the transaction of a write without a good answer. Each loses its headers and its long bodies.
 */
export class KeptExchanges {
  readonly #maxBytes: number
  /** By number, oldest first. */
  readonly #entries = new Map<number, Entry>()
  #bytes = 0
  /** Writes without a good answer so far, by end user. */
  readonly #sought = new Map<string | null | undefined, Entry[]>()

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get size(): number {
    return this.#entries.size
  }

  /** Approximate memory in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** Oldest first. */
  all(): readonly KeptExchange[] {
    return [...this.#entries.values()]
  }

  /** The exchange of that number, if it is kept. */
  get(number: number): KeptExchange | undefined {
    return this.#entries.get(number)
  }

  /** @returns true if an exchange that the record forgets is worth keeping; called for every one */
  wants(live: LiveExchange): boolean {
    if (live.operation === 'list_transactions') return this.#sought.size > 0 && this.#shownIn(live).length > 0
    return live.operation === 'deposit' || live.operation === 'withdraw' || live.operation === 'create_portfolio'
  }

  /** Keeps a wanted exchange, and cuts its object for good. @returns the number of exchanges forgotten for want of room */
  take({ live, request_id, ordinal }: KeptExchange): number {
    const key = rawHeaderOf(live.headers, 'idempotency-key')
    const entry = { live, request_id, ordinal, size: 0, key, lists: 0 }
    if (live.operation === 'list_transactions') this.#shorten(live)
    else this.#seek(entry)
    entry.size = cut(live, key)
    this.#entries.set(live.number, entry)
    this.#bytes += entry.size
    let forgotten = 0
    for (; this.size > 1 && (this.size > MAX_KEPT || this.#bytes > this.#maxBytes); forgotten++) this.#forgetOldest()
    return forgotten
  }

  #seek(entry: Entry): void {
    const { live, key } = entry
    const { operation, external_id } = live
    if (operation === 'create_portfolio') return
    const others = (this.#sought.get(external_id) ?? []).filter(
      (one) => one.live.operation !== operation || one.key !== key,
    )
    const answered = live.end === 'answered' && !live.unread && live.status >= 200 && live.status < 300
    const sought = answered ? others : [...others, entry].slice(-SOUGHT_OF_USER)
    if (sought.length > 0) this.#sought.set(external_id, sought)
    else this.#sought.delete(external_id)
  }

  /** Writes whose transaction a list shows, except those that have enough lists already. */
  #shownIn({ external_id, answer }: LiveExchange): Entry[] {
    if (typeof answer !== 'string') return []
    const sought = this.#sought.get(external_id) ?? []
    return sought.filter(({ live, lists }) => lists < LISTS_OF_WRITE && shows(answer, live))
  }

  /** Removes transactions from a list's answer, except those that it is kept for. */
  #shorten(live: LiveExchange): void {
    const shown = this.#shownIn(live)
    for (const entry of shown) entry.lists++
    const read = typeof live.answer === 'string' ? jsonObject(live.answer) : undefined
    if (!Array.isArray(read?.data)) return
    const data = read.data.filter((one) => shown.some((entry) => shows(JSON.stringify(one), entry.live)))
    live.answer = JSON.stringify({ ...read, data })
  }

  #forgetOldest(): void {
    const [oldest] = this.#entries.values()
    if (!oldest) return
    this.#entries.delete(oldest.live.number)
    this.#bytes -= oldest.size
    const { external_id } = oldest.live
    const others = this.#sought.get(external_id)?.filter((one) => one !== oldest) ?? []
    if (others.length > 0) this.#sought.set(external_id, others)
    else this.#sought.delete(external_id)
  }
}

function shows(answer: string, { transaction_id, tx_hash }: LiveExchange): boolean {
  return (transaction_id !== null && answer.includes(transaction_id)) || (tx_hash !== null && answer.includes(tx_hash))
}

/** Reduces an exchange to the parts that a verdict needs. @returns their approximate size in bytes */
function cut(live: LiveExchange, key: string | undefined): number {
  live.headers = key === undefined ? [] : ['idempotency-key', key]
  live.answerHeaders = {}
  const body = live.body === null ? null : bounded(live.body, MAX_TEXT)
  live.bodyCut ||= body !== null && body.length < (live.body?.length ?? 0)
  live.body = body
  const answer = typeof live.answer === 'string' ? bounded(live.answer, MAX_TEXT) : live.answer
  live.answerCut ||= typeof answer === 'string' && answer !== live.answer
  live.answer = answer
  const texts = [live.url, key, body, answer].map((text) => (typeof text === 'string' ? text.length : 0))
  const steps = (live.steps?.length ?? 0) * (STEP_BYTES / STEP_FIELDS)
  return texts.reduce((sum, length) => sum + length, RECORD_BYTES + steps)
}
