import { describe, expect, test } from 'vitest'
import { DEFAULT_SETTINGS } from '../../src/domain/service-settings.ts'
import type { Check, Refusal } from '../../src/traffic/recorded-exchange.ts'
import { findCauses } from '../../src/verdict/find-causes.ts'
import { evidenceOf } from './evidence.ts'
import { type ExchangeParts, exchange } from './exchange.ts'

const token = (claims: Record<string, unknown> = {}) => ({ fingerprint: 't1', header: null, claims })

function causesOf(refusal: Partial<Refusal>, parts: ExchangeParts = {}) {
  const refused = { code: 'x', aspect: null, expected: null, came: null, detail: 'x', check: 'idp_token' as const }
  const status = { status: 401, code: 'x' }
  return findCauses(evidenceOf([exchange({ response: status, refusal: { ...refused, ...refusal }, ...parts })])).causes
}

const TOKEN = { operation: 'token', external_id: null } as const
const credentials = (aspect: string, more: Partial<Refusal> = {}) =>
  causesOf({ check: 'client_credentials', aspect, ...more }, TOKEN)
const access = (aspect: string, claims: Record<string, unknown> = {}, more: Partial<Refusal> = {}) =>
  causesOf({ aspect, ...more }, { request: { idp_token: token(claims) } })

describe('the token request', () => {
  test.each([
    ['client_id', 'client-id'],
    ['client_secret', 'client-secret'],
    ['grant_type', 'token-request'],
    ['Content-Type', 'token-request'],
    ['scope', 'token-scope'],
    ['tenant_id', 'tenant-id'],
  ])('refused for its %s: %s, with what was expected and what came', (aspect, id) => {
    const [cause, ...others] = credentials(aspect, { expected: 'right', came: 'wrong' })
    expect(others).toEqual([])
    expect(cause).toMatchObject({ id, blocking: true, count: 1 })
    if (!id.startsWith('client')) expect([cause?.expected, cause?.came].join()).toMatch(/right.*wrong/)
    expect(causesOf({ check: 'client_credentials', aspect: 'other' }, TOKEN)).toEqual([])
  })

  test('says what would have been right where the refusal does not', () => {
    const words = (aspect: string) => credentials(aspect).map(({ title, expected, came }) => [title, expected, came])[0]
    expect(words('scope')?.slice(1)).toEqual([`scope ${DEFAULT_SETTINGS.audience}/.default`, 'scope none'])
    expect(words('grant_type')).toEqual([
      'The token request asks for another grant',
      'grant_type client_credentials',
      'none',
    ])
    expect(words('content-type')).toEqual(['The token request is no form', 'application/x-www-form-urlencoded', 'none'])
  })

  test('says nothing when a fault asked for the refusal, or the request was another', () => {
    const faults = [{ id: 'f', kind: 'error', phase: 'on_request', explanation: 'x' }]
    for (const aspect of ['grant_type', 'scope', 'tenant_id', 'client_id']) {
      expect(causesOf({ check: 'client_credentials', aspect }, { ...TOKEN, faults })).toEqual([])
    }
    expect(causesOf({ check: 'client_credentials', aspect: 'grant_type' })).toEqual([])
  })
})

describe('access tokens', () => {
  test.each([
    ['appid', 'idp-token-application'],
    ['aud', 'idp-token-audience'],
    ['iss', 'idp-token-issuer'],
    ['kid', 'idp-token-issuer'],
    ['signature', 'idp-token-issuer'],
    ['tid', 'tenant-id'],
  ])('refused for %s: %s', (aspect, id) => {
    expect(access(aspect).map((cause) => cause.id)).toEqual([id])
    expect(causesOf({ check: 'user_token', aspect }).map((cause) => cause.id)).not.toContain(id)
    expect(access('typ')).toEqual([])
  })

  test('names what the token says where the refusal does not', () => {
    expect(access('tid', { tid: 'mine' })[0]).toMatchObject({ expected: 'tid of the application', came: 'tid mine' })
    expect(access('iss', { iss: 'mine' })[0]?.came).toBe('a token with iss mine')
    expect(access('aud', { aud: ['a', 'b'] })[0]?.came).toContain('["a","b"]')
    expect(access('aud', { aud: 'x'.repeat(300) })[0]?.came).toMatch(/x…$/)
    expect(access('aud')[0]?.came).toContain('none')
  })

  test.each([
    ['iat', 90, 'fast', 'iat 90 s ahead', /^iat at or before 1970/],
    ['exp', -7200, 'slow', 'exp 7,200 s ago', /^exp after 1970/],
    ['nbf', 1e11, 'fast', 'nbf 100,000,000,000 s ahead', /^nbf/],
    ['nbf', 1e11 + 1, 'milliseconds', 'nbf 100000000001', /^nbf at or before 1970/],
  ])('%s of %d: a clock', (aspect, seconds, word, came, expected) => {
    expect(access(aspect, { [aspect]: seconds })).toMatchObject([
      {
        id: 'idp-token-clock',
        title: expect.stringContaining(word),
        came,
        expected: expect.stringMatching(expected),
      },
    ])
  })

  test('a time that is none, or of a token of this sandbox, is no matter of clocks', () => {
    expect(access('exp', { exp: 'soon' })).toEqual([])
    expect(access('exp', { exp: Number.NaN })).toEqual([])
    expect(causesOf({ aspect: 'exp' }, { request: { idp_token: null } })).toEqual([])
    const issued = exchange({ ...TOKEN, tenant: 'other', response: { issued: { token: token(), expires_in: 60 } } })
    const old = exchange({
      response: { status: 401 },
      refusal: { check: 'idp_token', code: 'x', aspect: 'exp', expected: null, came: null, detail: 'x' },
      request: { idp_token: token({ exp: -1 }) },
    })
    expect(findCauses(evidenceOf([issued, old])).causes).toEqual([])
  })
})

describe('a cause whose refusal says neither what was expected nor what came', () => {
  const audience = DEFAULT_SETTINGS.audience
  type Row = [id: string, check: Check, aspect: string, claims: Record<string, unknown>, expected: string, came: string]
  const rows: Row[] = [
    [
      'idp-token-application',
      'idp_token',
      'appid',
      { appid: 'mine' },
      'appid of a registered application',
      'appid mine',
    ],
    ['idp-token-audience', 'idp_token', 'aud', { aud: 'mine' }, `aud ${audience}`, 'aud mine'],
    ['tenant-id', 'idp_token', 'tid', { tid: 'mine' }, 'tid of the application', 'tid mine'],
    [
      'idp-token-issuer',
      'idp_token',
      'iss',
      { iss: 'mine' },
      'a token of the token endpoint of this sandbox',
      'a token with iss mine',
    ],
    ['user-token-audience', 'user_token', 'aud', { aud: 'mine' }, `aud ${audience}`, 'aud mine'],
    ['user-token-issuer', 'user_token', 'iss', { iss: 'mine' }, 'iss as registered for the tenant', 'iss mine'],
  ]
  test.each(rows)(
    '%s names what the token says, and "none" where it says nothing',
    (id, check, aspect, claims, expected, came) => {
      const of = (sent: ReturnType<typeof token> | null) =>
        causesOf({ check, aspect }, { request: { idp_token: sent, user_token: sent } })
      expect(of(token(claims))).toMatchObject([{ id, expected, came }])
      const nothing = { id, expected, came: came.replace('mine', 'none') }
      for (const sent of [token(), { ...token(), claims: null as never }, null])
        expect(of(sent)).toMatchObject([nothing])
    },
  )

  test.each(rows)('%s: neither of another check, nor of an aspect that nobody named', (id, check, aspect) => {
    const others: Check[] = check === 'idp_token' ? ['user_token', 'body'] : ['idp_token', 'body']
    for (const other of others) expect(causesOf({ check: other, aspect }).map((one) => one.id)).not.toContain(id)
    expect(causesOf({ check, aspect: null })).toEqual([])
  })

  test.each(rows)('%s: not the doing of a fault', (_, check, aspect) => {
    const faults = [{ id: 'f', kind: 'error', phase: 'on_request', explanation: 'x' }]
    expect(causesOf({ check, aspect }, { faults })).toEqual([])
  })

  test('shows of what a client sent 200 characters, the last of them … where there are more', () => {
    const came = (appid: string) => access('appid', { appid })[0]?.came
    expect(came('x'.repeat(200))).toBe(`appid ${'x'.repeat(200)}`)
    expect(came('x'.repeat(201))).toBe(`appid ${'x'.repeat(199)}…`)
    expect(access('appid', { appid: null })[0]?.came).toBe('appid none')
    expect(access('appid', { appid: { a: 1 } })[0]?.came).toBe('appid {"a":1}')
  })

  test('says what the refusal says rather than what the token does', () => {
    for (const aspect of ['appid', 'aud', 'tid']) {
      const said = { expected: 'right', came: 'wrong' }
      expect(access(aspect, { [aspect]: 'mine' }, said)).toMatchObject([
        { expected: `${aspect} right`, came: `${aspect} wrong` },
      ])
    }
    expect(access('iss', { iss: 'mine' }, { expected: 'right' })[0]?.expected).toBe('right')
  })
})

describe('credentials', () => {
  const sent = (aspect: string, parts: ExchangeParts, more: Partial<Refusal> = {}) =>
    causesOf({ check: 'client_credentials', aspect, ...more }, { ...TOKEN, ...parts })

  test('a client id is shown as it came', () => {
    expect(sent('client_id', { request: { client_id: 'mine' } })).toMatchObject([
      { expected: 'the client id of a registered application', came: 'client_id mine' },
    ])
    expect(sent('client_id', {}, { expected: 'another' })[0]?.expected).toBe('another')
    expect(sent('client_id', {})[0]?.came).toBe('client_id none')
  })

  test('a secret is named by its client id, and never shown', () => {
    expect(sent('client_secret', {})).toMatchObject([
      { expected: 'client_id and client_secret', came: 'another secret' },
    ])
    const long = { request: { client_id: 'x'.repeat(120) } }
    expect(sent('client_secret', long)[0]?.expected).toBe(`the secret of ${'x'.repeat(100)}`)
    expect(sent('client_secret', {}, { came: 'no secret' })[0]?.came).toBe('no secret')
  })

  test('a tenant in the address of the token endpoint', () => {
    expect(sent('tenant_id', { request: { path: '/other/oauth2/v2.0/token' } })).toMatchObject([
      {
        title: 'The address of the token endpoint has the id of another tenant',
        ...{ expected: 'the tenant of the application', came: '/other/oauth2/v2.0/token' },
      },
    ])
    expect(access('tid')[0]?.title).toBe('The access tokens are of another tenant than the application')
  })

  test('a form or a grant, each with its own way to mend it', () => {
    const [form] = sent('Content-Type', {})
    const [grant] = sent('grant_type', {})
    expect([form?.title, form?.fix]).toEqual([
      'The token request is no form',
      'Send the fields of the token request as application/x-www-form-urlencoded, not as JSON.',
    ])
    expect(grant?.fix).toBe('Set grant_type to client_credentials.')
    expect(causesOf({ check: 'client_credentials', aspect: null }, TOKEN)).toEqual([])
    expect(causesOf({}, { ...TOKEN, refusal: null })).toEqual([])
  })
})

describe('keys of user tokens', () => {
  const signed = (aspect: string, header: Record<string, unknown> | null, more: Partial<Refusal> = {}) =>
    causesOf({ check: 'user_token', aspect, ...more }, { request: { user_token: { ...token(), header } } })

  test('an unknown one is named', () => {
    expect(signed('kid', { kid: 'mine' })).toMatchObject([
      { id: 'user-token-key-id', expected: 'kid of a registered key', came: 'kid mine' },
    ])
    expect(signed('kid', { kid: 'mine' }, { expected: 'right', came: 'wrong' })).toMatchObject([
      { expected: 'kid right', came: 'kid wrong' },
    ])
  })

  test('one that is missing or no text is a finding, not a setting', () => {
    for (const header of [null, {}, { kid: '' }, { kid: 7 }]) expect(signed('kid', header)).toEqual([])
    expect(causesOf({ check: 'user_token', aspect: 'kid' }, { request: { user_token: null } })).toEqual([])
    expect(
      causesOf({ check: 'body', aspect: 'kid' }, { request: { user_token: { ...token(), header: { kid: 'k' } } } }),
    ).toEqual([])
  })

  test('a signature is that of a key, as far as the header names one', () => {
    const expected = (header: Record<string, unknown> | null) => signed('signature', header)[0]?.expected
    expect(expected({ kid: 'mine' })).toBe('a signature that the public key mine verifies')
    expect(expected(null)).toBe('a signature that the public key none verifies')
    const without = causesOf({ check: 'user_token', aspect: 'signature' }, { request: { user_token: null } })
    expect(without[0]?.expected).toBe('a signature that the public key none verifies')
  })
})

describe('clocks', () => {
  const user = (aspect: string, claims: Record<string, unknown>, parts: ExchangeParts = {}) =>
    causesOf({ check: 'user_token', aspect }, { request: { user_token: token(claims) }, ...parts })

  test('name whose tokens they are of, and which way they are off', () => {
    expect(user('exp', { exp: -5 })[0]?.title).toBe('The clock behind the user tokens is slow, or they are old')
    expect(access('iat', { iat: 5 })[0]?.title).toBe('The clock behind the access tokens is fast')
    expect(user('iat', { iat: 0 })[0]?.came).toBe('iat 0 s ago')
    expect(user('iat', { iat: 95 }, { at: 5000 })[0]?.came).toBe('iat 90 s ahead')
    expect(user('iat', { iat: 2e11 })[0]?.title).toBe('The times in the user tokens are in milliseconds')
  })

  test('are no matter of what is no number, no token, no time, or another check', () => {
    for (const iat of ['soon', Number.POSITIVE_INFINITY, undefined]) expect(user('iat', { iat })).toEqual([])
    expect(causesOf({ check: 'user_token', aspect: 'iat' }, { request: { user_token: null } })).toEqual([])
    expect(user('jti', { jti: 5 })).toEqual([])
    expect(causesOf({ check: 'body', aspect: 'iat' }, { request: { user_token: token({ iat: 5 }) } })).toEqual([])
    expect(causesOf({ check: 'body', aspect: 'iat' }, { request: { idp_token: token({ iat: 5 }) } })).toEqual([])
  })
})

describe('the base URL', () => {
  const NOT_FOUND = { check: 'route', code: 'not_found' } as const
  const asked = (path: string, { method = 'GET', base_path = '' } = {}, parts: ExchangeParts = {}) => {
    const refusal = { ...NOT_FOUND, aspect: null, expected: null, came: null, detail: 'x' }
    const sent = exchange({ operation: null, response: { status: 404 }, refusal, request: { path, method }, ...parts })
    return findCauses(evidenceOf([sent], { settings: { ...DEFAULT_SETTINGS, base_path } })).causes
  }

  test.each([
    ['/v1/pools', 'wrong'],
    ['/pools/', 'lack'],
    ['//pools', 'lack'],
    ['/v2/partner/pools', 'wrong'],
    ['/v1/v1/partner/end_users', 'twice'],
    ['/api/v1//v1/partner/end_users/alice/transactions', 'twice'],
    ['/v1/v1/x/pools', 'wrong'],
    ['/end_users/alice/portfolios//', 'lack'],
    ['/end_users/alice/withdraw', 'lack'],
    ['/end_users/alice/webhooks', undefined],
    ['/end_users//deposit', undefined],
    ['/pools/1', undefined],
    ['/whirlpools', undefined],
  ])('%s: %s', (path, word) => {
    expect(asked(path).map(({ title }) => title)).toEqual(word === undefined ? [] : [expect.stringContaining(word)])
  })

  test('of a sandbox below a path is named with it', () => {
    expect(asked('/n/one/pools', { base_path: '/n/one' })).toMatchObject([
      { title: expect.stringContaining('lack'), expected: '/n/one/v1/partner/pools' },
    ])
    expect(asked('/n/two/v1/partner/pools', { base_path: '/n/one' })[0]?.title).toBe(
      'The base URL of the service is wrong',
    )
  })

  test.each([
    ['/token', 'POST', true],
    ['/oauth/token/', 'POST', true],
    ['/x/oauth2/v2.0/token', 'POST', true],
    ['/x/oauth2/token', 'POST', true],
    ['/oauth2/token', 'GET', false],
    ['/mytoken', 'POST', false],
    ['/token/revoke', 'POST', false],
  ])('as an address of tokens: %s by %s', (path, method, isOne) => {
    const titles = isOne ? ['Tokens are asked for at an address that is not the token endpoint'] : []
    expect(asked(path, { method }).map(({ title }) => title)).toEqual(titles)
  })

  test('is not to blame for what was refused otherwise, by a fault, or not at all', () => {
    const other = { code: 'not_found', aspect: null, expected: null, came: null, detail: 'x' }
    const faults = [{ id: 'f', kind: 'error', phase: 'on_request', explanation: 'x' }]
    expect(asked('/pools', {}, { faults })).toEqual([])
    expect(asked('/pools', {}, { refusal: null })).toEqual([])
    expect(asked('/pools', {}, { refusal: { ...other, check: 'body' } })).toEqual([])
    expect(asked('/pools', {}, { refusal: { ...other, check: 'route', code: 'method_not_allowed' } })).toEqual([])
    expect(asked('/pools', {}, { operation: 'list_pools' })).toEqual([])
  })
})
