import { describe, expect, test } from 'vitest'
import {
  challengeOf,
  ERRORS,
  type ErrorCode,
  invalidParameters,
  Problem,
  requiredHeaders,
} from '../../src/domain/errors.ts'

const headersOf = (code: ErrorCode, headers?: Record<string, string>) =>
  new Problem(code, { detail: 'x', ...(headers && { headers }) }).details.headers

const refused = (realm: string, title: string) =>
  `Bearer realm="${realm}", error="invalid_token", error_description="${title}"`

describe('the headers an error carries', () => {
  test.each<[ErrorCode, Record<string, string>]>([
    ['token_missing', { 'www-authenticate': 'Bearer realm="partner-api"' }],
    ['invalid_idp_token', { 'www-authenticate': refused('partner-api', 'The identity-provider token is not valid') }],
    ['unknown_partner', { 'www-authenticate': refused('partner-api', 'The partner application is not registered') }],
    ['invalid_user_token', { 'www-authenticate': refused('user-token', 'The user token is not valid') }],
    ['cross_tenant_jwt', { 'www-authenticate': refused('user-token', 'The user token is of another tenant') }],
    ['control_token_required', { 'www-authenticate': refused('control', 'The control token is missing or wrong') }],
    ['rate_limited', { 'retry-after': '1' }],
    ['service_unavailable', { 'retry-after': '1' }],
    ['chain_unavailable', { 'retry-after': '1' }],
    ['insufficient_role', {}],
    ['gateway_timeout', {}],
    ['validation_error', {}],
  ])('%s', (code, headers) => {
    expect(headersOf(code)).toEqual(headers)
  })

  test('give way to its own, and stand beside others', () => {
    expect(headersOf('rate_limited', { 'retry-after': '30' })).toEqual({ 'retry-after': '30' })
    expect(headersOf('rate_limited', { allow: 'GET' })).toEqual({ 'retry-after': '1', allow: 'GET' })
  })

  test('leave out a challenge that nobody knows', () => {
    expect(requiredHeaders(401)).toStrictEqual({})
  })

  test('say nothing about a token that did not come', () => {
    expect(challengeOf('invalid_user_token', false)).toBe('Bearer realm="user-token"')
  })

  test('are there for every status that asks for them, and can be written', () => {
    for (const code of Object.keys(ERRORS) as ErrorCode[]) {
      const { status } = ERRORS[code]
      const expected = status === 401 ? ['www-authenticate'] : status === 429 || status === 503 ? ['retry-after'] : []
      expect([code, ...Object.keys(headersOf(code))]).toEqual([code, ...expected])
      expect(challengeOf(code, true)).toMatch(
        /^Bearer realm="[a-z-]+", error="invalid_token", error_description="[\w '-]+"$/,
      )
    }
  })
})

describe('parameters that are not valid', () => {
  const faults = (count: number) => Array.from({ length: count }, (_, i) => ({ param: `p${i}`, detail: `is ${i}` }))

  test('are all said, the first as the one at fault', () => {
    const { code, status, details } = invalidParameters(faults(2))
    expect([code, status, details]).toEqual([
      'validation_error',
      400,
      { detail: 'p0: is 0. p1: is 1.', param: 'p0', errors: faults(2), headers: {} },
    ])
  })

  test('are the first twenty when there are more', () => {
    expect(invalidParameters(faults(20)).details.detail).toMatch(/p19: is 19\.$/)
    const { detail, errors } = invalidParameters(faults(21)).details
    expect(detail).toMatch(/p19: is 19\. These are the first 20 of more\.$/)
    expect(errors).toEqual(faults(20))
  })

  test('are quoted in part when they are long, and so is the whole', () => {
    const long = Array.from({ length: 20 }, () => ({ param: 'p'.repeat(2000), detail: 'd'.repeat(2000) }))
    const { detail, param, errors } = invalidParameters(long).details
    expect([detail.length, param?.length]).toEqual([8000, 100])
    expect(errors?.map((fault) => [fault.param.length, fault.detail.length])).toEqual(Array(20).fill([100, 1000]))
  })
})
