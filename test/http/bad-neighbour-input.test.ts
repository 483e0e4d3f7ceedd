import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { testNamespace } from '../helpers/partner.ts'
import { expectIdentified, expectRefusal, type RawAnswer, send } from './raw-http.ts'

const MALFORMED = ['{', '', 'x', '{"a":1,}', '"x"', 'null', '42', '\0', '{"__proto__":{}}', '['.repeat(50_000)]

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testNamespace()
})
afterAll(() => sandbox.stop())

function control(method: string, path: string, body?: unknown, type = 'application/json'): Promise<RawAnswer> {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  return send(sandbox.baseUrl, {
    method,
    path: `/_sandbox/${path}`,
    ...(body !== undefined && { headers: { 'content-type': type }, body: text }),
  })
}

describe.each(['clock', 'faults', 'tenants/acme/user_tokens', 'tenants/acme/idp_tokens'])(
  'POST /_sandbox/%s',
  (path) => {
    test('refuses what is no JSON object', async () => {
      for (const body of MALFORMED) {
        expectRefusal(await control('POST', path, body), { status: 400, code: 'validation_error', param: 'body' })
      }
      const bytes = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])
      expectRefusal(await control('POST', path, bytes), { status: 400, code: 'validation_error', param: 'body' })
    })

    test('refuses other content types and bodies of over 100 KiB', async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/yaml', '']) {
        const refusal = { status: 415, code: 'unsupported_media_type', param: 'Content-Type' }
        expectRefusal(await control('POST', path, '{}', type), refusal)
      }
      const huge = JSON.stringify({ padding: 'x'.repeat(100 * 1024) })
      expectRefusal(await control('POST', path, huge), { status: 413, code: 'payload_too_large', param: 'body' })
    })

    test('names a field it does not know', async () => {
      const answer = await control('POST', path, {
        external_id: 'alice',
        kind: 'expired_cursor',
        hello: 1,
        advance: '0',
      })
      expectRefusal(answer, { status: 400, code: 'validation_error' })
      const { param, errors = [{ param }] } = JSON.parse(answer.text)
      expect(errors.map((error: { param: string }) => error.param)).toContain('hello')
    })
  },
)

describe('control bodies with values that cannot be', () => {
  const named = async (path: string, body: unknown, param: string) =>
    expectRefusal(await control('POST', path, body), { status: 400, code: 'validation_error', param })

  test('clock', async () => {
    await named('clock', {}, 'body')
    await named('clock', { advance: '1d', set: '2099-01-01' }, 'set')
    for (const advance of [1, null, [], {}, true, '', 'x', '-1d', '1 fortnight', '1e3s', 'NaN', 'Infinity', '1d2h']) {
      await named('clock', { advance }, 'advance')
    }
    // Beyond what a date can say.
    for (const advance of ['999999999999d', '9007199254740993', `${'9'.repeat(400)}d`, '300000y']) {
      await named('clock', { advance }, 'advance')
    }
    const moments = ['', 'x', '1970-01-01T00:00:00Z', '2099-13-01', '+275760-09-13T00:00:00.001Z', 'tomorrow']
    for (const set of [1, null, [], {}, ...moments, '+010000-01-01T00:00:00.000Z']) await named('clock', { set }, 'set')
    for (const freeze of ['yes', 1, null, {}]) await named('clock', { freeze }, 'freeze')
    expect((await control('GET', 'clock')).status).toBe(200)
  })

  test('user tokens', async () => {
    const path = 'tenants/acme/user_tokens'
    await named(path, {}, 'external_id')
    for (const external_id of [1, null, [], {}]) await named(path, { external_id }, 'external_id')
    for (const [field, values] of Object.entries(WISHES)) {
      for (const value of values) await named(path, { external_id: 'alice', [field]: value }, field)
    }
  })

  test('identity-provider tokens', async () => {
    for (const [field, values] of Object.entries(WISHES)) {
      for (const value of values) await named('tenants/acme/idp_tokens', { [field]: value }, field)
    }
  })

  const WISHES = {
    claims: [1, 'x', null, []],
    header: [1, 'x', null, []],
    expires_in: ['1h', 1.5, null, [], 1e300, -1e300, Number.MAX_SAFE_INTEGER],
    key: ['REGISTERED', '', null, 1],
  }

  test('tokens that are bad on purpose are minted all the same', async () => {
    for (const header of [
      { alg: 'none' },
      { alg: 'HS256' },
      { alg: 7 },
      { alg: null, kid: null, typ: null },
      { kid: ['x'] },
      { crit: ['x'] },
      { b64: false },
      { jwk: {}, x5c: [''] },
    ]) {
      for (const kind of ['user_tokens', 'idp_tokens']) {
        const claims = { exp: 'never', aud: [1], iat: -1, nbf: null, jti: { deep: [] } }
        const user = kind === 'user_tokens' ? { external_id: '' } : {}
        const answer = await control('POST', `tenants/acme/${kind}`, { ...user, header, claims, key: 'unknown' })
        expect({ header, text: answer.text, status: answer.status }).toMatchObject({ status: 201 })
        expect(JSON.parse(answer.text).token.split('.')).toHaveLength(3)
      }
    }
  })

  test('faults, alone and in a list', async () => {
    const rule = { kind: 'drop_connection' }
    for (const [wrong, param] of [
      [{}, 'kind'],
      [{ kind: 1 }, 'kind'],
      [{ kind: 'drop_conection' }, 'kind'],
      [{ kind: '__proto__' }, 'kind'],
      [{ ...rule, phase: 'never' }, 'phase'],
      [{ kind: 'expired_cursor', phase: 'after_broadcast' }, 'phase'],
      [{ ...rule, match: [] }, 'match'],
      [{ ...rule, match: { operation: 'x' } }, 'match.operation'],
      [{ ...rule, match: { tenant: 'nobody' } }, 'match.tenant'],
      [{ ...rule, match: { external_id: 1 } }, 'match.external_id'],
      [{ ...rule, match: { path: '/' } }, 'match.path'],
      [{ ...rule, skip: -1 }, 'skip'],
      [{ ...rule, skip: 0.5 }, 'skip'],
      [{ ...rule, times: 0 }, 'times'],
      [{ ...rule, times: 'twice' }, 'times'],
      [{ ...rule, probability: 2 }, 'probability'],
      [{ ...rule, with: [] }, 'with'],
      [{ ...rule, with: { how: 'slowly' } }, 'with.how'],
      [{ ...rule, with: { bytes: -1 } }, 'with.bytes'],
      [{ ...rule, with: { byts: 1 } }, 'with.byts'],
    ] as const) {
      await named('faults', wrong, param)
      await named('faults', [rule, wrong], `[1].${param}`)
    }
    await named('faults', [[rule]], 'body')
    expect(JSON.parse((await control('GET', 'faults')).text)).toEqual([])
  })

  test('paths that name nothing', async () => {
    for (const slug of ['nobody', '__proto__', 'acme%2F', 'acme%00', '..', 'x'.repeat(5_000), 'ACME']) {
      for (const kind of ['user_tokens', 'idp_tokens']) {
        const answer = await control('POST', `tenants/${slug}/${kind}`, { external_id: 'alice' })
        expect(answer.status).toBeOneOf([400, 404])
        expectIdentified(answer)
      }
      const answer = await control('DELETE', `faults/${slug}`)
      expectRefusal(answer, { status: 404, code: 'fault_not_found', param: 'id' })
    }
    expectRefusal(await control('DELETE', 'faults/%zz'), { status: 400, code: 'validation_error', param: 'path' })
  })

  test('methods a control path does not have', async () => {
    for (const path of [
      'health',
      'ready',
      'credentials',
      'assumptions',
      'clock',
      'faults',
      'reset',
      'tenants/acme/idp_tokens',
    ]) {
      for (const method of ['PUT', 'PATCH', 'OPTIONS']) {
        const answer = await control(method, path)
        expect(answer.status).toBeOneOf([404, 405])
        expectIdentified(answer)
      }
    }
  })
})

describe('the identity provider', () => {
  const form = 'application/x-www-form-urlencoded'
  const ask = (body: string | Buffer, type = form, method = 'POST', path = '/oauth2/token') =>
    send(sandbox.baseUrl, { method, path, headers: { 'content-type': type }, body })
  const expectOAuthError = (answer: RawAnswer, status: number, error: string) => {
    expect({ status: answer.status, ...JSON.parse(answer.text) }).toMatchObject({ status, error })
    expect(answer.headers['cache-control']).toBe('no-store')
    expectIdentified(answer)
  }

  test('answers bad forms in the words of RFC 6749, identified like every answer', async () => {
    for (const body of ['{', '', '&', '=', '%zz=%', '\0', 'grant_type', Buffer.from([0xff, 0xfe]), '__proto__=1']) {
      expectOAuthError(await ask(body), 401, 'invalid_client')
    }
    expectOAuthError(await ask('scope=x&scope=x'), 400, 'invalid_request')
    expectOAuthError(await ask(`scope=${'x'.repeat(100 * 1024)}`), 413, 'invalid_request')
    for (const type of ['application/json', 'text/plain', 'multipart/form-data', 'x', '']) {
      expectOAuthError(await ask('{}', type), 400, 'invalid_request')
    }
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      expectOAuthError(await ask('{', 'application/json', method), 405, 'invalid_request')
    }
  })

  test('answers tenants in the path that are none', async () => {
    const { client_id, client_secret } = sandbox.tenants[0]!
    const good = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope: 'x' })
    for (const tenant of ['x', '..', '%2e%2e', 'a%2Fb', '%00', '__proto__', 'x'.repeat(5_000)]) {
      const answer = await ask(good.toString(), form, 'POST', `/${tenant}/oauth2/v2.0/token`)
      expectOAuthError(answer, 401, 'invalid_client')
    }
    const answer = await ask(good.toString(), form, 'POST', '/%zz/oauth2/v2.0/token')
    expectRefusal(answer, { status: 400, code: 'validation_error', param: 'path' })
  })
})
