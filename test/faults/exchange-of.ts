import type { Exchange } from '../../src/domain/exchange.ts'

/** An exchange as faults see it, of acme; what is not given is that of a request for the pools. */
export function exchangeOf(given: Partial<Exchange> = {}): Exchange {
  return {
    request_id: 'req_1',
    operation: 'list_pools',
    tenant: 'acme',
    external_id: undefined,
    idempotency_key: undefined,
    has_cursor: false,
    has_user_token: false,
    answer: undefined,
    over: new AbortController().signal,
    struckBy: undefined,
    tokenWish: {},
    drop: () => {},
    hang: () => {},
    answerNow: () => {},
    ...given,
  }
}
