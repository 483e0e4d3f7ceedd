import { jsonObject } from '../support/json.ts'
import { rawHeaderOf } from './headers.ts'
import { bounded, type LiveExchange, RECORD_BYTES } from './live-exchange.ts'

/** Most exchanges that are kept. */
const MAX_KEPT = 10_000
/** Most of a body that is kept, in UTF-16 code units: that of a transfer takes a hundred. */
const MAX_TEXT = 2 * 1024
/** Lists kept for the transaction of one write: a client that found it has found it in the first. */
const LISTS_OF_WRITE = 4
/** Writes of one end user whose transactions are looked for in lists, the newest of them. */
const SOUGHT_OF_USER = 10

/** Exchanges of operations that were recorded and are not there any more, and why: a count each. */
export interface Forgotten {
  /** There was no room for them. */
  room: number
  /** Somebody deleted them. */
  deleted: number
  /** A reset took them away, and with them what was forgotten before it for another reason. */
  reset: number
}

/** An exchange that is kept, and what the record had noted of it elsewhere. */
export interface KeptExchange {
  live: LiveExchange
  request_id: string
  ordinal: number
}

interface Entry extends KeptExchange {
  /** Bytes. */
  size: number
  key: string | undefined
  /** How many lists that show its transaction are kept. */
  lists: number
}

/**
 * What a verdict on transfers cannot do without, for when the record has no room for it any more: every write, and the first lists that
 * show the transaction of a write that had no good answer. Little is kept of each: neither headers nor long bodies.
 */
export class KeptExchanges {
  readonly #maxBytes: number
  /** Oldest first. */
  readonly #entries = new Set<Entry>()
  #bytes = 0
  /** By end user: writes without a good answer so far. */
  readonly #sought = new Map<string | null | undefined, Entry[]>()

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get size(): number {
    return this.#entries.size
  }

  /** Oldest first. */
  all(): readonly KeptExchange[] {
    return [...this.#entries]
  }

  /** @returns true if an exchange that the record forgets is worth keeping. Asked of every one. */
  wants(live: LiveExchange): boolean {
    if (live.operation === 'list_transactions') return this.#sought.size > 0 && this.#shownIn(live).length > 0
    return live.operation === 'deposit' || live.operation === 'withdraw' || live.operation === 'create_portfolio'
  }

  /** Keeps an exchange that it wants, and changes its object for good. @returns how many it forgot for want of room */
  take({ live, request_id, ordinal }: KeptExchange): number {
    const key = rawHeaderOf(live.headers, 'idempotency-key')
    const entry = { live, request_id, ordinal, size: 0, key, lists: 0 }
    if (live.operation === 'list_transactions') this.#shorten(live)
    else this.#seek(entry)
    entry.size = cut(live, key)
    this.#entries.add(entry)
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

  /** Writes whose transaction a list shows, but for those for which enough lists are kept. */
  #shownIn({ external_id, answer }: LiveExchange): Entry[] {
    if (typeof answer !== 'string') return []
    const sought = this.#sought.get(external_id) ?? []
    return sought.filter(({ live, lists }) => lists < LISTS_OF_WRITE && shows(answer, live))
  }

  /** Leaves in the answer of a list only the transactions it is kept for. */
  #shorten(live: LiveExchange): void {
    const shown = this.#shownIn(live)
    for (const entry of shown) entry.lists++
    const read = typeof live.answer === 'string' ? jsonObject(live.answer) : undefined
    if (!Array.isArray(read?.data)) return
    const data = read.data.filter((one) => shown.some((entry) => shows(JSON.stringify(one), entry.live)))
    live.answer = JSON.stringify({ ...read, data })
  }

  #forgetOldest(): void {
    const [oldest] = this.#entries
    if (!oldest) return
    this.#entries.delete(oldest)
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

/** Leaves of an exchange what a verdict needs. @returns how many bytes that takes, roughly */
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
  return texts.reduce((sum, length) => sum + length, RECORD_BYTES)
}
