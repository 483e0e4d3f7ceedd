import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { type Answer, Partner, testNamespace } from '../helpers/partner.ts'

let sandbox: SandboxHandle
let acme: Partner
let globex: Partner
let portfolio: string
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
  globex = new Partner(sandbox, 'globex')
  // The same name at both: whose end user it is, the token decides.
  portfolio = await acme.open('carol')
  await acme.deposit('carol', portfolio, '5000000')
  await acme.open('carol')
  await globex.open('carol')
})
afterAll(() => sandbox.stop())

function expectCode({ status, body }: Answer, expected: number, code: string): void {
  expect({ status, code: body.code }).toEqual({ status: expected, code })
}

describe('a tenant', () => {
  test('sees only its own end users and their portfolios, whatever they are called', async () => {
    const mine = (await acme.get('end_users/carol/portfolios')).body.data
    const theirs = (await globex.get('end_users/carol/portfolios')).body.data
    const ids = (items: { portfolio_id: string }[]) => items.map(({ portfolio_id }) => portfolio_id)
    expect(ids(mine)).toContain(portfolio)
    expect(ids(theirs)).not.toContain(portfolio)
    expect((await globex.get('end_users/carol/transactions')).body.data).toEqual([])
    expectCode(await globex.get('end_users/alice/portfolios'), 404, 'end_user_not_found')
  })

  test('cannot move money of another tenant’s portfolio, nor learn whether it exists', async () => {
    for (const operation of ['deposit', 'withdraw'] as const) {
      const theirs = await globex[operation]('carol', portfolio, '1000')
      const none = await globex[operation]('carol', `${portfolio.slice(0, -1)}0`, '1000')
      expectCode(theirs, 404, 'portfolio_not_found')
      expectCode(none, 404, 'portfolio_not_found')
      expect(theirs.body.detail.replace(portfolio, 'X')).toBe(
        none.body.detail.replace(`${portfolio.slice(0, -1)}0`, 'X'),
      )
    }
    expect((await acme.get('end_users/carol/transactions')).body.data).toHaveLength(1)
  })

  test('cannot use another tenant’s cursors', async () => {
    const { next_cursor } = (await acme.get('end_users/carol/portfolios?limit=1')).body
    const pools = (await acme.get('pools?limit=1')).body.next_cursor
    expect([typeof next_cursor, typeof pools]).toEqual(['string', 'string'])
    for (const cursor of [next_cursor, pools]) {
      for (const path of ['end_users/carol/portfolios', 'pools', 'end_users/carol/transactions']) {
        for (const parameter of ['starting_after', 'ending_before']) {
          expectCode(await globex.get(`${path}?${parameter}=${cursor}`), 400, 'cursor_invalid')
        }
      }
    }
  })

  test('does not share Idempotency-Keys', async () => {
    const key = randomUUID()
    const body = { external_id: 'dave' }
    const first = await acme.post('end_users', body, { key })
    const second = await globex.post('end_users', body, { key })
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.headers.get('idempotency-key-replay')).toBe('false')
    expect(second.body.id).not.toBe(first.body.id)
    expect(second.body.wallet_address).not.toBe(first.body.wallet_address)
  })

  test('is not let in with another tenant’s user token, nor with its own under another’s', async () => {
    const foreign = await sandbox.userToken('carol', { tenant: 'acme' })
    const path = 'end_users/carol/portfolios'
    expectCode(await globex.get(path, { headers: { 'x-user-token': foreign } }), 401, 'invalid_user_token')
    const idp = `Bearer ${await globex.idpToken()}`
    expectCode(await acme.get(path, { headers: { authorization: idp } }), 401, 'invalid_user_token')
  })

  test('with one role gains no other by naming things in its reach', async () => {
    const restricted = new Partner(sandbox, 'restricted')
    expect((await restricted.get('pools')).status).toBe(200)
    expectCode(await restricted.post('end_users', { external_id: 'x' }), 403, 'insufficient_role')
    for (const path of ['portfolios', 'transactions']) {
      expectCode(await restricted.get(`end_users/carol/${path}`), 403, 'insufficient_role')
    }
    expectCode(await restricted.deposit('carol', portfolio, '1'), 403, 'insufficient_role')
  })
})

describe('an end user', () => {
  test('cannot reach another’s portfolios: by token, by path, by id', async () => {
    const jar = await acme.open('erin')
    expectCode(await acme.deposit('erin', portfolio, '1000'), 404, 'portfolio_not_found')
    expectCode(await acme.withdraw('erin', portfolio, '1000'), 404, 'portfolio_not_found')
    expectCode(await acme.get('end_users/carol/portfolios', { user: 'erin' }), 403, 'sub_url_mismatch')
    expectCode(await acme.withdraw('carol', portfolio, '1', { user: 'erin' }), 403, 'sub_url_mismatch')
    const { next_cursor } = (await acme.get('end_users/carol/portfolios?limit=1')).body
    expectCode(await acme.get(`end_users/erin/portfolios?starting_after=${next_cursor}`), 400, 'cursor_invalid')
    expect((await acme.get('end_users/erin/portfolios')).body.data).toMatchObject([{ portfolio_id: jar }])
  })

  test('shares no key with another', async () => {
    const key = randomUUID()
    const jar = await acme.open('frank')
    expect((await acme.deposit('carol', portfolio, '1000', { key })).status).toBe(200)
    const other = await acme.deposit('frank', jar, '1000', { key })
    expect(other.status).toBe(200)
    expect(other.headers.get('idempotency-key-replay')).toBe('false')
  })
})

describe('pollution', () => {
  test('of prototypes by a body or a query changes nothing for anybody', async () => {
    const bodies = [
      '{"__proto__":{"external_id":"mallory","access":"all"}}',
      '{"constructor":{"prototype":{"external_id":"mallory"}}}',
      '{"external_id":"x","x":{"__proto__":{"polluted":true}}}',
      '{"external_id":"x","\\u005f_proto__":{"polluted":true}}',
    ]
    for (const body of bodies) expectCode(await acme.post('end_users', body), 400, 'validation_error')
    await acme.get('pools?__proto__[polluted]=1&__proto__.polluted=1&constructor[prototype][polluted]=1')
    for (const path of ['clock', 'faults', 'tenants/acme/user_tokens']) {
      const headers = { 'content-type': 'application/json' }
      const body = '{"__proto__":{"polluted":true}}'
      const answer = await fetch(`${sandbox.controlUrl}/${path}`, { method: 'POST', headers, body })
      expect(answer.status).toBe(400)
    }
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
    expect(Reflect.get({}, 'external_id')).toBeUndefined()
    expectCode(await acme.post('end_users', {}), 400, 'validation_error')
  })

  test('of response headers by values that are echoed does not work', async () => {
    const names = ['x\r\nSet-Cookie: a=b', 'x\nX-Evil: 1', '%0d%0aX-Evil:%201']
    for (const name of names) {
      const answers = [
        await acme.post('end_users', { external_id: name }),
        await acme.get(`end_users/${encodeURIComponent(name)}/portfolios`, { user: 'carol' }),
        await acme.get(`pools?starting_after=${encodeURIComponent(name)}`),
        await acme.get(`nothing/${encodeURIComponent(name)}`),
      ]
      for (const { status, headers } of answers) {
        expect(status).toBeGreaterThanOrEqual(400)
        expect([headers.get('set-cookie'), headers.get('x-evil')]).toEqual([null, null])
      }
    }
  })
})
