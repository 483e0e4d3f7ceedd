import type { ControlClient } from '../control/client.ts'
import type { ExchangeFilter, ExchangePage, ExchangeQuery, ExplainedExchange, Har } from '../control/contract.ts'
import { refuseUnknownNames } from '../option-error.ts'
import { FILTERS } from '../traffic/page-exchanges.ts'

/** Recorded requests of clients, and their outcome. */
export interface RequestsHandle {
  /**
   * The newest first, 25 unless `limit` says otherwise; pass `next_cursor` as `starting_after` for the next page.
   * @example
   * const { data } = await sandbox.requests.list({ operation: 'deposit', status: '4xx' })
   */
  list(query?: ExchangeQuery): Promise<ExchangePage>
  /**
   * One request, with an explanation in sentences.
   * @example
   * console.log((await sandbox.requests.get(response.headers.get('x-service-request-id')!)).explanation.join('\n'))
   */
  get(requestId: string): Promise<ExplainedExchange>
  /** All that match, as an HTTP Archive (HAR 1.2), oldest first: for a browser's developer tools. */
  har(filter?: ExchangeFilter): Promise<Har>
  /** Forgets all recorded requests. */
  clear(): Promise<void>
}

/** The requests that the sandbox behind a client has recorded. */
export function requestsOf(client: ControlClient): RequestsHandle {
  return {
    list: async (query = {}) => {
      refuseUnknownNames(query, { ...FILTERS, limit: true, starting_after: true }, 'requests.list')
      return client.requests(query)
    },
    get: (requestId) => client.request(requestId),
    har: async (filter = {}) => {
      refuseUnknownNames(filter, FILTERS, 'requests.har')
      return client.har(filter)
    },
    clear: () => client.clearRequests(),
  }
}
