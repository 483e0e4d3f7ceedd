import type { StruckBy } from '../domain/exchange.ts'
import type { Operation } from '../domain/operations.ts'
import type { ExchangeEnd, RecordedExchange, Refusal } from './recorded-exchange.ts'

/** What is known of a request when it enters its namespace. */
export interface Arrival {
  request_id: string
  method: string
  /** Path and query, as sent. */
  url: string
  /** A value after each name, as sent. */
  headers: readonly string[]
  /** Ordinal of its connection. */
  connection: number
  /** Null when the path is none of the service's. */
  operation: Operation | null
}

/** Bytes that a record takes beside its texts. */
export const RECORD_BYTES = 500

/**
 * One exchange while it goes on and as it is kept: plain fields, written where things happen and read when somebody asks. Texts are
 * kept as they came, secrets included, so only `show-exchange.ts` may read them.
 */
export class LiveExchange {
  /** Another one after a reset. */
  number = 0
  /** How many exchanges were recorded in this object. */
  use = 0
  method = ''
  url = ''
  headers: readonly string[] = []
  connection = 0
  operation: Operation | null = null
  /** Slug of the tenant, verified or claimed; undefined while nobody has looked. */
  tenant: string | null | undefined = undefined
  /** Undefined while nobody has looked. */
  external_id: string | null | undefined = undefined
  /** Milliseconds of real time since the log was made, and how far the sandbox clock was ahead: small integers take no room of their own. */
  began = 0
  beganAhead = 0
  /** Says nothing while it is open. */
  ended = 0
  endedAhead = 0
  end: ExchangeEnd = 'open'
  /** A reset took away what it was about: however it ends, it was cut off. */
  cutOff = false
  unread = false
  dropped: RecordedExchange['dropped'] = null
  /** As it came; null when none was read. */
  body: string | null = null
  /** That came. */
  bodyBytes = 0
  bodyCut = false
  /** Of the answer, or of what it would have been; 0 while there is none. */
  status = 0
  /** Null: those that every good answer in JSON has. */
  answerHeaders: Readonly<Record<string, string>> | null = null
  /** The text, or what becomes it as JSON. */
  answer: unknown = null
  answerBytes = 0
  answerCut = false
  refusal: Refusal | null = null
  struckBy: StruckBy | null = null
  keyUse: 'first' | 'joined' | 'replayed' | 'unused' = 'unused'
  /** True if it carries out a transfer itself; the next two say which. */
  transferring = false
  transaction_id: string | null = null
  tx_hash: string | null = null
  /** The request whose answer showed the total that it withdraws. */
  shown_by: string | null = null
  /** Bytes of memory it takes, roughly. */
  size = 0

  /** True if another exchange may be recorded in this object: a plain list, answered, which nobody has more to say of. */
  get spent(): boolean {
    return (
      this.end === 'answered' &&
      this.status === 200 &&
      this.answerHeaders === null &&
      this.body === null &&
      !this.bodyCut
    )
  }

  /** Makes it the record of an exchange that begins. */
  begin(
    number: number,
    arrival: Arrival,
    { began, ahead, size }: { began: number; ahead: number; size: number },
  ): void {
    this.number = number
    this.use++
    this.method = arrival.method
    this.url = arrival.url
    this.headers = arrival.headers
    this.connection = arrival.connection
    this.operation = arrival.operation
    this.tenant = undefined
    this.external_id = undefined
    this.began = began
    this.beganAhead = ahead
    this.ended = 0
    this.endedAhead = 0
    this.end = 'open'
    this.cutOff = false
    this.unread = false
    this.status = 0
    this.answer = null
    this.answerBytes = 0
    this.answerCut = false
    this.refusal = null
    this.struckBy = null
    this.keyUse = 'unused'
    this.size = size
  }
}

/** The beginning of a text that is longer than so many UTF-16 code units: a copy, since a slice would hold the whole. */
export function bounded(text: string, limit: number): string {
  return text.length > limit ? Buffer.from(text.slice(0, limit)).toString() : text
}
