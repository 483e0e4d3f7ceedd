import type { Exchange } from '../../src/domain/exchange.ts'

/** A request that asks for the pools of `acme`, or what is given, and that faults may do anything to. */
export function anExchange(given: Partial<Exchange> = {}): Exchange {
  return {
    request_id: 'req_1',
    operation: 'list_pools',
    host: '127.0.0.1:4010',
    tenant: 'acme',
    external_id: undefined,
    idempotency_key: undefined,
    has_cursor: false,
    has_user_token: false,
    answer: undefined,
    over: new AbortController().signal,
    struckBy: undefined,
    tokenWish: {},
    readBody: async () => {},
    drop: () => {},
    hang: () => {},
    answerNow: () => {},
    ...given,
  }
}
