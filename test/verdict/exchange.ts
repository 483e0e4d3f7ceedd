import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'

let count = 0

/** Some of an exchange; the rest is that of a plain answered request. */
export type ExchangeParts = Partial<Omit<RecordedExchange, 'request' | 'response'>> & {
  request?: Partial<RecordedExchange['request']>
  response?: Partial<NonNullable<RecordedExchange['response']>> | null
  /** Milliseconds of real time at which it began and ended. */
  at?: number
  until?: number
}

/** A recorded exchange for judges, which know nothing but data. */
export function exchange({ request, response, at = 0, until = at + 5, ...rest }: ExchangeParts = {}): RecordedExchange {
  count++
  const moment = (ms: number) => ({ wall: new Date(ms).toISOString(), clock: new Date(ms).toISOString() })
  const answered = { status: 200, headers: [], body: '{}', body_bytes: 2, body_cut: false, code: null, issued: null }
  return {
    request_id: `req_${count}`,
    number: count,
    operation: 'deposit',
    tenant: 'acme',
    external_id: 'alice',
    ordinal: 1,
    connection: 1,
    began: moment(at),
    ended: moment(until),
    end: 'answered',
    unread: false,
    dropped: null,
    took_ms: until - at,
    refusal: null,
    faults: [],
    idempotency: null,
    transfer: null,
    ...rest,
    request: {
      method: 'POST',
      path: '/v1/partner/end_users/alice/deposit',
      query: [],
      headers: [],
      body: null,
      body_bytes: 0,
      body_cut: false,
      idp_token: null,
      user_token: null,
      client_id: null,
      ...request,
    },
    response: response === null ? null : { ...answered, ...response },
  }
}
