import type { StruckBy } from '../domain/exchange.ts'
import type { Operation } from '../domain/operations.ts'
import type { ExchangeEnd, RecordedExchange, Refusal } from './recorded-exchange.ts'

/** Facts about a request when it enters its namespace. */
export interface Arrival {
  request_id: string
  method: string
  /** Path and query, as sent. */
  url: string
  /** A value after each name, as sent. */
  headers: readonly string[]
  /** Ordinal of its connection. */
  connection: number
  /** Null when the path is not one of the service. */
  operation: Operation | null
}

/** Bytes of a record beside its texts. */
export const RECORD_BYTES = 500

/**
 * Numbers of a noted step: its place among `TRANSFER_STEPS`, its time as in {@link LiveExchange.began} and `beganAhead`, its block or nonce
 * (−1 for none), and 1 if the exchange had ended before.
 */
export const STEP_FIELDS = 5
/** Bytes of a noted step. */
export const STEP_BYTES = STEP_FIELDS * 8

/**
 * One exchange while it runs and afterwards: plain fields, written where things happen and read on demand. Texts are
 * kept as they came, secrets included, so only `show-exchange.ts` may read them.
 */
export class LiveExchange {
  /** Changes at a reset. */
  number = 0
  /** Number of exchanges that were recorded in this object. */
  use = 0
  method = ''
  url = ''
  headers: readonly string[] = []
  connection = 0
  operation: Operation | null = null
  /** Slug of the tenant, verified or claimed; undefined until it is looked up. */
  tenant: string | null | undefined = undefined
  /** Undefined until it is looked up. */
  external_id: string | null | undefined = undefined
  /** Milliseconds of real time since the log was made, and the sandbox clock's lead: V8 stores small integers inline. */
  began = 0
  beganAhead = 0
  /** Meaningless while the exchange is open. */
  ended = 0
  endedAhead = 0
  end: ExchangeEnd = 'open'
  /** Its number, from 1, in the order of ends; 0 while it is open. See {@link Ends}. */
  endedAs = 0
  /** True after a reset: the exchange ends as cut off in any case. */
  cutOff = false
  unread = false
  dropped: RecordedExchange['dropped'] = null
  /** The body as it came; null when none was read. */
  body: string | null = null
  /** Bytes that came. */
  bodyBytes = 0
  bodyCut = false
  /** Status of the answer, or of the one that would have been sent; 0 for none. */
  status = 0
  /** Null for the headers of every good answer in JSON. */
  answerHeaders: Readonly<Record<string, string>> | null = null
  /** The text, or the value that is sent as JSON. */
  answer: unknown = null
  answerBytes = 0
  answerCut = false
  refusal: Refusal | null = null
  struckBy: StruckBy | null = null
  keyUse: 'first' | 'joined' | 'replayed' | 'unused' = 'unused'
  /** True if this exchange itself carries out a transfer, which the next two fields name. */
  transferring = false
  transaction_id: string | null = null
  tx_hash: string | null = null
  /** Steps of that transfer, {@link STEP_FIELDS} numbers each; null for none. */
  steps: number[] | null = null
  /** The request whose answer showed the total that this one withdraws. */
  shown_by: string | null = null
  /** Approximate bytes of memory. */
  size = 0

  /** True if the object may record another exchange: this one is an answered plain list, and nothing more will be written to it. */
  get spent(): boolean {
    return (
      this.end === 'answered' &&
      this.status === 200 &&
      this.answerHeaders === null &&
      this.body === null &&
      !this.bodyCut
    )
  }

  /** Reinitialises the object for an exchange that begins. */
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
    this.endedAs = 0
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

/** At most so many UTF-16 code units of a text: a copy, since a slice would hold the whole. */
export function bounded(text: string, limit: number): string {
  return text.length > limit ? Buffer.from(text.slice(0, limit)).toString() : text
}
