import { describe, expect, test } from 'vitest'
import { DEFAULT_SETTINGS } from '../../src/domain/service-settings.ts'
import type { Refusal } from '../../src/traffic/recorded-exchange.ts'
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
