import { RequestCounter } from '../../faults/counters.ts'
import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import type { ReachedPlace, RequestPosition, Trial } from '../exploration.ts'

/** A position of a run without faults, and facts about its exchange that decide which hazards apply. */
export interface Place extends ReachedPlace {
  /** True for the last exchange of the run. */
  last?: true
  /** True for the first transfer of the run; in a run without one, for the first new portfolio. */
  firstWrite?: true
  /** Status and code of the answer: `200`, `422 insufficient_balance`. */
  answer: string
}

/** The places of a run, in the order of arrival. `stable` holds the names of end users that are the same in every run. */
export function placesOf(exchanges: readonly RecordedExchange[], stable: ReadonlySet<string>): Place[] {
  const several = new Set(exchanges.flatMap(({ tenant }) => tenant ?? [])).size > 1
  // Counts as the rules do whose `match` names a request.
  const requests = new RequestCounter()
  const places = exchanges.flatMap((exchange): Place[] => {
    const { operation, tenant, external_id, transfer, idempotency, request } = exchange
    if (operation === null) return []
    const counted = { operation, tenant: tenant ?? undefined, external_id: external_id ?? undefined }
    const numbers = requests.count(counted)
    if (!numbers) return []
    const { end_user = null, ordinal } = numbers
    const position: RequestPosition = {
      operation,
      tenant: several ? tenant : null,
      external_id: end_user !== null && external_id !== null && stable.has(external_id) ? external_id : null,
      end_user,
      ordinal,
    }
    const transferred = Boolean(transfer?.tx_hash) && idempotency?.use === 'first'
    const has_cursor = request.query.some(([name]) => name === 'starting_after' || name === 'ending_before')
    return [{ position, transferred, has_cursor, answer: endOrStatus(exchange) }]
  })
  const last = places.at(-1)
  if (last) last.last = true
  const isNew = ({ position }: Place) => position.operation === 'create_portfolio'
  const first = places.find(({ transferred }) => transferred) ?? places.find(isNew)
  if (first) first.firstWrite = true
  return places
}

/** `deposit#2@alice`, `list_pools#1`, `withdraw#1@2`. */
export function positionName({ operation, tenant, external_id, end_user, ordinal }: RequestPosition): string {
  const user = end_user === null ? '' : `@${external_id ?? end_user}`
  return `${operation}#${ordinal}${user}${tenant === null ? '' : `(${tenant})`}`
}

/** Names of all places at which trials cause something, each once. */
export function placesIn(trials: readonly Trial[]): string[] {
  // A trial of several strikes is at a place of single ones, or at the retry that comes after it.
  const singles = trials.filter(({ harms }) => harms.length === 1)
  return [...new Set(singles.flatMap(({ harms }) => harms.map(({ position }) => positionName(position))))]
}

function endOrStatus({ end, response }: RecordedExchange): string {
  if (end !== 'answered' || !response) return end
  return [response.status, response.code].filter((part) => part !== null).join(' ')
}
