import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { isOpen, mined } from '../helpers/confirmation.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { send } from '../http/raw-http.ts'

/** Behaviours of the Idempotency-Key that are neither in the specification nor among the assumptions. */

const REPLAY = 'Idempotency-Key-Replay'
const DAY = 24 * 60 * 60 * 1000

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testNamespace()
  await sandbox.clock.freeze()
  acme = new Partner(sandbox)
})
afterAll(() => sandbox.stop())

const create = async (key: string, change: object = {}) =>
  acme.post('end_users/alice/portfolios', { ...(await acme.portfolioBody('aave-usdc')), ...change }, { key })

test('Behaviour idempotency-bodies: compared as parsed JSON, unknown fields and nulls included', async () => {
  const key = randomUUID()
  const first = await create(key)
  const text = JSON.stringify(
    Object.fromEntries(Object.entries(await acme.portfolioBody('aave-usdc')).reverse()),
    null,
    2,
  )
  const again = await acme.ask('POST', 'end_users/alice/portfolios', { body: text, key })
  expect([again.headers.get(REPLAY), again.body]).toEqual(['true', first.body])
  for (const change of [{ unknown: 1 }, { description: null }]) {
    expect(outcome(await create(key, change))).toBe('422 idempotency_key_in_use_with_different_params')
  }
})

test('Behaviour idempotency-key-form: compared without case, quoted or not; two headers are 400', async () => {
  const key = randomUUID()
  const first = await create(key)
  for (const same of [key.toUpperCase(), `"${key}"`]) {
    expect((await create(same)).body.portfolio_id).toBe(first.body.portfolio_id)
  }
  const headers = {
    authorization: `Bearer ${await acme.idpToken()}`,
    'content-type': 'application/json',
    'idempotency-key': [key, key],
  }
  const twice = await send(sandbox.baseUrl, { method: 'POST', path: '/v1/partner/end_users', headers, body: '{}' })
  expect([twice.status, JSON.parse(twice.text).param]).toEqual([400, 'Idempotency-Key'])
})

test('Behaviour replayed-error: the body is the first one, its request_id too; the header is of this request', async () => {
  const key = randomUUID()
  const refused = async () => {
    const answer = await create(key, { chain_id: '1' })
    return { ...answer, id: answer.headers.get('X-Service-Request-Id') }
  }
  const [first, replayed] = [await refused(), await refused()]
  expect([outcome(first), first.headers.get(REPLAY), first.body.request_id]).toEqual([
    ...['422 pool_not_found', 'false', first.id],
  ])
  expect([replayed.headers.get(REPLAY), replayed.body]).toEqual(['true', first.body])
  expect(replayed.id).not.toBe(first.id)
})

test('Behaviour idempotency-life: counts from completion, and a replay does not prolong it', async () => {
  await using slow = await testNamespace({ confirmationDelay: '10s' })
  await slow.clock.freeze()
  const partner = new Partner(slow)
  const portfolio = await partner.open('ida')
  const key = randomUUID()
  const deposit = () => partner.deposit('ida', portfolio, '1000', { key })
  const { request } = await mined(slow, deposit)
  await slow.clock.advance(10_000)
  await request
  await slow.clock.advance(DAY)
  expect((await deposit()).headers.get(REPLAY)).toBe('true')
  await slow.clock.advance(1)
  const later = await mined(slow, deposit)
  await slow.clock.advance(10_000)
  expect((await later.request).headers.get(REPLAY)).toBe('false')
})

test('Behaviour unknown-end-user-kept: end_user_not_found is kept under the key', async () => {
  const key = randomUUID()
  const body = await acme.portfolioBody('aave-usdc')
  const ask = () => acme.post('end_users/eve/portfolios', body, { key })
  expect(outcome(await ask())).toBe('404 end_user_not_found')
  await acme.post('end_users', { external_id: 'eve' })
  const again = await ask()
  expect([outcome(again), again.headers.get(REPLAY)]).toEqual(['404 end_user_not_found', 'true'])
})

test('Behaviour idempotency-joined: a request that joins another has Idempotency-Key-Replay: true', async () => {
  await using slow = await testNamespace({ confirmationDelay: '10s' })
  await slow.clock.freeze()
  const partner = new Partner(slow)
  const portfolio = await partner.open('joe')
  const key = randomUUID()
  const deposit = () => partner.deposit('joe', portfolio, '1000', { key })
  const { request: first } = await mined(slow, deposit)
  const second = deposit()
  expect(await isOpen(slow, second)).toBe(true)
  await slow.clock.advance(10_000)
  const answers = await Promise.all([first, second])
  expect(answers.map(({ status, headers }) => [status, headers.get(REPLAY)])).toEqual([
    [200, 'false'],
    [200, 'true'],
  ])
})
