import { Problem } from '../domain/errors.ts'
import { shorten } from '../support/foreign-text.ts'
import type { Ends } from './ends.ts'
import { type ExchangeFilter, fits, type RecordedExchanges } from './page-exchanges.ts'
import type { RecordedExchange, UncountedExchange } from './recorded-exchange.ts'

/** A filter, and the place in the order of ends from which on it looks. */
export interface NextExchangeQuery extends Omit<ExchangeFilter, 'end'> {
  /** None: open exchanges are not given. */
  end?: Exclude<NonNullable<ExchangeFilter['end']>, 'open'>
  /** The id of a request, a `place`, or `now`. Default: before all that are on record. */
  after?: string
}

/** Answer to a {@link NextExchangeQuery}. */
export interface NextExchange {
  /** Null if none has ended in time. */
  data: RecordedExchange | null
  /** Place after it in the order of ends, for `after` of the next query. */
  place: string
}

/** A log as far as its order of ends is concerned. */
interface EndedExchanges extends Pick<RecordedExchanges, 'get'> {
  readonly ends: Ends
  /** Those here that have ended since so many ends, in the order of their ends; `ends` includes the exchange itself. */
  endedSince(ends: number): Iterable<{ ends: number; exchange: UncountedExchange }>
}

/**
 * The first matching exchange in the order of ends. Waits for one until the signal is aborted or none will end any more. Throws Problem
 * cursor_expired if `after` is a request that is not on record.
 */
export async function nextExchange(
  log: EndedExchanges,
  { after, ...filter }: NextExchangeQuery,
  signal: AbortSignal,
): Promise<NextExchange> {
  let place = after === undefined ? 0 : startOf(after, log)
  do {
    for (const { ends, exchange } of log.endedSince(place)) {
      place = ends
      const data = fits({ ...exchange, ordinal: 1 }, filter) ? log.get(exchange.request_id) : undefined
      if (data) return { data, place: log.ends.placeOf(place) }
    }
    place = Math.max(place, log.ends.count) // some were forgotten before they were looked at
  } while (await log.ends.further(place, signal))
  return { data: null, place: log.ends.placeOf(place) }
}

function startOf(after: string, log: EndedExchanges): number {
  if (after === 'now') return log.ends.count
  const ends = log.ends.endsBefore(after)
  if (ends !== undefined) return ends
  if (!log.get(after)) {
    const detail = `There is no request "${shorten(after)}" on record: it was forgotten, or is one of another namespace.`
    throw new Problem('cursor_expired', { detail, param: 'after' })
  }
  for (const { ends, exchange } of log.endedSince(0)) if (exchange.request_id === after) return ends
  return log.ends.count // it is open, so nothing has ended after it
}
