import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { expectRefusal, goodHeaders, type RawAnswer, send } from './raw-http.ts'

let sandbox: SandboxHandle
let headers: Record<string, string>
beforeAll(async () => {
  sandbox = await testSandbox()
  headers = await goodHeaders(new Partner(sandbox))
})
afterAll(() => sandbox.stop())

const many = <T>(count: number, one: (i: number) => T) => Array.from({ length: count }, (_, i) => one(i))
const unknownFields = (count: number) => Object.fromEntries(many(count, (i) => [`field_${i}`, 1]))
const LONG = 'x'.repeat(90_000)

function post(path: string, body: unknown): Promise<RawAnswer> {
  return send(sandbox.baseUrl, { method: 'POST', path, headers, body: JSON.stringify(body) })
}

/** The refusal, in no more than so many bytes whatever was sent. */
function expectShort(answer: RawAnswer, most = 32 * 1024): void {
  expectRefusal(answer, { status: 400, code: 'validation_error' })
  expect(answer.text.length).toBeLessThan(most)
}

describe('the answer to what is wrong is short, however much is wrong', () => {
  test.each([
    ['rules without a kind', many(900, () => ({}))],
    ['numbers for rules', many(900, (i) => i)],
    ['long words for rules', many(900, () => 'x'.repeat(90))],
    ['unknown fields', unknownFields(5000)],
    ['rules with unknown fields', many(900, () => ({ kind: 'hang', a: 1, b: 2, c: 3 }))],
    ['a long kind', { kind: LONG }],
    ['a long field', { kind: 'hang', [LONG]: 1 }],
    ['a long tenant', { kind: 'hang', match: { tenant: LONG } }],
    ['a long duration', { kind: 'latency', with: { delay: LONG } }],
    ['unknown parameters', { kind: 'hang', with: unknownFields(5000) }],
  ])('POST /_sandbox/faults: %s', async (_what, body) => {
    expectShort(await post('/_sandbox/faults', body))
  })

  test.each([
    ['unknown fields', unknownFields(1500)],
    ['unknown rules', { name: 'a', description: 'b', faults: many(100, () => ({ kind: 'x'.repeat(500) })) }],
    ['a long name', { name: LONG, description: 'b' }],
    ['long moments', { name: 'a', description: 'b', clock: many(90, () => ({ set: 'x'.repeat(900) })) }],
  ])('POST /_sandbox/scenarios: %s', async (_what, body) => {
    expectShort(await post('/_sandbox/scenarios', body))
  })

  test.each([
    ['/_sandbox/clock', unknownFields(5000)],
    ['/_sandbox/clock', { advance: LONG }],
    ['/_sandbox/clock', { set: LONG }],
    ['/_sandbox/tenants/acme/user_tokens', unknownFields(5000)],
    ['/_sandbox/tenants/acme/user_tokens', { external_id: 'alice', key: LONG }],
    ['/_sandbox/tenants/acme/idp_tokens', { [LONG]: 1 }],
    ['/v1/partner/end_users', { external_id: LONG }],
    ['/v1/partner/end_users/alice/portfolios', Object.fromEntries(many(5000, (i) => [`f${i}`, i]))],
  ])('POST %s: case %#', async (path, body) => {
    expectShort(await post(path, body), 8 * 1024)
  })

  test('it lists the first 20 and says that there are more', async () => {
    const { errors, detail, param } = JSON.parse(
      (
        await post(
          '/_sandbox/faults',
          many(100, () => ({})),
        )
      ).text,
    )
    expect(errors).toHaveLength(20)
    expect(errors[19].param).toBe('[19].kind')
    expect(param).toBe('[0].kind')
    const few = JSON.parse((await post('/_sandbox/tenants/acme/idp_tokens', unknownFields(21))).text)
    expect(few.errors).toHaveLength(20)
    expect(few.detail).toMatch(
      /field_19: is not a known field; use one of claims, header, expires_in, key\. These are the first 20 of more\.$/,
    )
    expect(detail.length).toBeLessThanOrEqual(8000)
    const all = JSON.parse((await post('/_sandbox/tenants/acme/idp_tokens', unknownFields(20))).text)
    expect(all.detail).toMatch(/field_19: is not a known field; use one of claims, header, expires_in, key\.$/)
  })
})

test('so many faults can be kept and no more: every request is held against each', async () => {
  const rules = many(500, () => ({ kind: 'deprecation' }))
  for (const _ of [1, 2]) expect((await post('/_sandbox/faults', rules)).status).toBe(201)
  const refused = await post('/_sandbox/faults', { kind: 'deprecation' })
  expectRefusal(refused, { status: 400, code: 'validation_error', param: 'body' })
  expect(JSON.parse(refused.text).detail).toContain('At most 1000 faults')
  await sandbox.faults.clear()
  expect((await post('/_sandbox/faults', rules)).status).toBe(201)
  await sandbox.faults.clear()
})
