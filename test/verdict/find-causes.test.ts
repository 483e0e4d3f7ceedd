import { describe, expect, test } from 'vitest'
import type { Check, RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import { findCauses } from '../../src/verdict/find-causes.ts'
import { evidenceOf } from './evidence.ts'
import { type ExchangeParts, exchange } from './exchange.ts'

const token = (fingerprint = 't1', claims: Record<string, unknown> = {}, header = { kid: 'key-1', alg: 'RS256' }) => ({
  fingerprint,
  header,
  claims,
})

/** A deposit that was refused because of its user token. */
const refused = (aspect: string, rest: ExchangeParts = {}): RecordedExchange =>
  exchange({
    response: { status: 401, code: 'invalid_user_token' },
    refusal: {
      check: 'user_token',
      code: 'invalid_user_token',
      aspect,
      expected: '"right"',
      came: '"wrong"',
      detail: 'x',
    },
    ...rest,
    request: { user_token: token('u1'), idp_token: token('i1'), ...rest.request },
  })
const accepted = () => exchange({ request: { user_token: token('u2'), idp_token: token('i1') } })
const unknownPath = (path: string, method = 'GET') =>
  exchange({
    operation: null,
    response: { status: 404, code: 'not_found' },
    refusal: { check: 'route', code: 'not_found', aspect: null, expected: null, came: null, detail: 'x' },
    request: { path, method },
  })
const idsOf = (...exchanges: RecordedExchange[]) => findCauses(evidenceOf(exchanges)).causes.map(({ id }) => id)

describe('a cause', () => {
  test('is one line for all it explains, and takes those out of the evidence', () => {
    const exchanges = [refused('iss'), refused('iss'), refused('iss'), refused('iss')]
    const { causes, explained } = findCauses(evidenceOf(exchanges))
    expect(causes).toEqual([
      {
        id: 'user-token-issuer',
        title: 'The user tokens have another issuer than the one registered',
        expected: 'iss "right"',
        came: 'iss "wrong"',
        fix: expect.stringContaining('YIELD_ISSUER'),
        blocking: true,
        count: 4,
        request_ids: exchanges.slice(0, 3).map(({ request_id }) => request_id),
      },
    ])
    expect(explained.size).toBe(4)
  })

  test('is none when a request of that client got past the check afterwards', () => {
    const { causes, explained } = findCauses(evidenceOf([refused('iss'), accepted()]))
    expect([causes, explained.size]).toEqual([[], 0])
  })

  test('is shown, but stands in nobody’s way, when one had got past it before', () => {
    expect(findCauses(evidenceOf([accepted(), refused('iss')])).causes).toMatchObject([{ blocking: false }])
  })

  test('is not disproved by another client', () => {
    const other = { ...accepted(), tenant: 'globex' }
    expect(findCauses(evidenceOf([refused('iss'), other])).causes).toMatchObject([{ blocking: true }])
  })

  test('of user tokens is not disproved by the list of pools, which takes none', () => {
    const pools = exchange({ operation: 'list_pools', request: { user_token: token('u3'), idp_token: token('i1') } })
    expect(findCauses(evidenceOf([refused('iss'), pools])).causes).toMatchObject([{ blocking: true }])
  })

  describe('is disproved, or not, by what comes after it', () => {
    const user = { user_token: token('u2'), idp_token: token('i1') }
    const refusal = (check: Check) => ({ check, code: 'x', aspect: null, expected: null, came: null, detail: 'x' })
    const asked = (parts: ExchangeParts) => exchange({ request: user, ...parts })
    test.each<[string, RecordedExchange, boolean]>([
      [
        'a request refused by a later check',
        asked({ response: { status: 422 }, refusal: refusal('idempotency_key') }),
        true,
      ],
      ['one refused by an earlier check', asked({ response: { status: 401 }, refusal: refusal('idp_token') }), false],
      ['one refused by the same check', asked({ response: { status: 401 }, refusal: refusal('user_token') }), false],
      ['one that failed', asked({ response: { status: 500 } }), false],
      ['one that was answered 400', asked({ response: { status: 400 } }), false],
      ['one without an answer', asked({ end: 'dropped', response: null }), false],
      ['one without a user token', exchange({ request: { idp_token: token('i1') } }), false],
      ['a request for a token', exchange({ operation: 'token', request: user }), false],
      ['a request of nothing', asked({ operation: null }), false],
      ['one whose client nobody knows', asked({ tenant: null }), true],
    ])('%s', (_, next, isDisproved) => {
      expect(idsOf(refused('iss'), next)).toEqual(isDisproved ? [] : ['user-token-issuer'])
    })

    test('the request of a client that nobody knows: by any other', () => {
      expect(idsOf(refused('iss', { tenant: null }), accepted())).toEqual([])
    })

    test('the base URL: by any request of the service', () => {
      expect(idsOf(unknownPath('/pools'), asked({ response: { status: 401 }, refusal: refusal('idp_token') }))).toEqual(
        [],
      )
    })

    test('the credentials of the client: by a token, and by nothing else', () => {
      const secret = exchange({
        operation: 'token',
        external_id: null,
        response: { status: 401, code: 'invalid_client' },
        refusal: { ...refusal('client_credentials'), aspect: 'client_secret' },
      })
      expect(idsOf(secret, accepted())).toEqual(['client-secret'])
      expect(idsOf(secret, exchange({ operation: 'token', external_id: null }))).toEqual([])
    })
  })

  test('is none when a fault refused the request, or spoiled its token', () => {
    const faults = [{ id: 'f', kind: 'token_expired', phase: 'on_request', explanation: 'x' }]
    const issued = { token: token('i9'), expires_in: 3600 }
    const spoiled = exchange({ operation: 'token', external_id: null, faults, response: { issued } })
    const after = exchange({
      response: { status: 401, code: 'invalid_idp_token' },
      refusal: {
        check: 'idp_token',
        code: 'invalid_idp_token',
        aspect: 'aud',
        expected: null,
        came: null,
        detail: 'x',
      },
      request: { idp_token: token('i9') },
    })
    expect(idsOf(refused('signature', { faults }))).toEqual([])
    expect(idsOf(spoiled, after)).toEqual([])
    expect(idsOf(after)).toEqual(['idp-token-audience'])
    expect(idsOf({ ...spoiled, faults: [] }, after)).toEqual(['idp-token-audience'])
  })
})

describe('user tokens', () => {
  test.each([
    ['kid', 'user-token-key-id'],
    ['signature', 'user-token-key'],
    ['aud', 'user-token-audience'],
  ])('refused for %s: %s', (aspect, id) => expect(idsOf(refused(aspect))).toEqual([id]))

  test('a missing kid, a wrong alg, a wrong sub are findings', () => {
    expect(idsOf(refused('kid', { request: { user_token: token('u', {}, {} as never) } }))).toEqual([])
    expect(idsOf(refused('alg'), refused('typ'), refused('sub'))).toEqual([])
  })

  test.each([
    ['iat', 3600, 'fast', 'iat 3,600 s ahead'],
    ['nbf', 90, 'fast', 'nbf 90 s ahead'],
    ['exp', -7200, 'slow', 'exp 7,200 s ago'],
    ['iat', 1.8e12, 'milliseconds', 'iat 1800000000000'],
  ])('%s off by %i s', (aspect, seconds, word, came) => {
    const { causes } = findCauses(
      evidenceOf([refused(aspect, { at: 0, request: { user_token: token('u', { [aspect]: seconds }) } })]),
    )
    expect(causes).toMatchObject([{ id: 'user-token-clock', title: expect.stringContaining(word), came }])
  })

  test('one that was accepted before has grown old: no matter of clocks', () => {
    const claims = { exp: -1 }
    const good = exchange({ tenant: 'other', request: { user_token: token('u1', claims) } })
    expect(idsOf(good, refused('exp', { request: { user_token: token('u1', claims) } }))).toEqual([])
  })
})

describe('the base URL', () => {
  test.each([
    ['/partner/pools', 'lack', '/v1/partner/pools'],
    ['/pools', 'lack', '/v1/partner/pools'],
    ['/v1/v1/partner/pools', 'twice', '/v1/partner/pools'],
    ['/yield/v1/partner/end_users/alice/deposit', 'wrong', '/v1/partner/end_users/alice/deposit'],
  ])('%s', (path, word, expected) => {
    const { causes } = findCauses(evidenceOf([unknownPath(path)]))
    expect(causes).toMatchObject([{ id: 'base-url', title: expect.stringContaining(word), expected, came: path }])
  })

  test('the path of the token endpoint', () => {
    expect(findCauses(evidenceOf([unknownPath('/v1/oauth/token', 'POST')])).causes).toMatchObject([
      { id: 'base-url', expected: '/oauth2/token, or /{directory_id}/oauth2/v2.0/token' },
    ])
  })

  test('a path of something else says nothing', () => {
    expect(idsOf(unknownPath('/favicon.ico'), unknownPath('/v1/partner/webhooks'))).toEqual([])
  })
})
