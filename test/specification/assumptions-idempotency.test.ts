import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { confirmed, isOpen, mined } from '../helpers/confirmation.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace, testSandbox } from '../helpers/partner.ts'

const HOUR = 60 * 60 * 1000
const REPLAY = 'Idempotency-Key-Replay'

let sandbox: SandboxHandle
/** Confirms after ten seconds of business time, joins requests in flight. */
let slow: SandboxHandle
/** As slow, but a request in flight is a conflict, and responses are kept for an hour. */
let switched: SandboxHandle
let acme: Partner
let portfolio: string
beforeAll(async () => {
  const confirmationDelay = '10s'
  ;[sandbox, slow, switched] = await Promise.all([
    testNamespace(),
    testSandbox({ confirmationDelay }),
    sandboxWith(
      (fixture) => {
        fixture.service = { idempotency_in_flight: 'conflict', idempotency_ttl: '1h' }
      },
      { confirmationDelay },
    ),
  ])
  for (const each of [sandbox, slow, switched]) await each.clock.freeze()
  acme = new Partner(sandbox)
  portfolio = await acme.open('ida')
  await acme.deposit('ida', portfolio, '1000000')
})
afterAll(() => Promise.all([sandbox, slow, switched].map((each) => each.stop())))

const count = async (partner = acme, user = 'ida') =>
  (await partner.get(`end_users/${user}/transactions?limit=100`)).body.data.length

test('Assumption idempotency-missing: 400 idempotency_key_required', async () => {
  const answer = await acme.deposit('ida', portfolio, '1000', { key: null })
  expect([outcome(answer), answer.body.param]).toEqual(['400 idempotency_key_required', 'Idempotency-Key'])
})

test('Assumption idempotency-format: what is no UUID v4 is 400 validation_error; a quoted one is accepted', async () => {
  const answer = await acme.deposit('ida', portfolio, '1000', { key: 'retry-1' })
  expect([outcome(answer), answer.body.param]).toEqual(['400 validation_error', 'Idempotency-Key'])
  const key = randomUUID()
  const quoted = await acme.deposit('ida', portfolio, '1000', { key: `"${key}"` })
  expect(outcome(quoted)).toBe('200')
  expect((await acme.deposit('ida', portfolio, '1000', { key })).body).toEqual(quoted.body)
})

test('Assumption idempotency-scope: one tenant, one operation, one external_id share a key', async () => {
  const key = randomUUID()
  const globex = new Partner(sandbox, 'globex')
  const theirs = await globex.open('ida')
  const others = await acme.open('ian')
  const answers = [
    await acme.deposit('ida', portfolio, '1000', { key }),
    await acme.withdraw('ida', portfolio, '1000', { key }),
    await acme.deposit('ian', others, '1000', { key }),
    await globex.deposit('ida', theirs, '1000', { key }),
  ]
  expect(answers.map(({ status, headers }) => [status, headers.get(REPLAY)])).toEqual(Array(4).fill([200, 'false']))
  expect(new Set(answers.map(({ body }) => body.tx_hash)).size).toBe(4)
})

test('Assumption idempotency-mismatch: the same key with another body is refused, with the same in another order not', async () => {
  const key = randomUUID()
  const first = await acme.deposit('ida', portfolio, '1000', { key })
  const other = await acme.deposit('ida', portfolio, '1001', { key })
  expect(outcome(other)).toBe('422 idempotency_key_in_use_with_different_params')
  const reordered = { amount_minor: '1000', portfolio_id: portfolio }
  expect((await acme.post('end_users/ida/deposit', reordered, { key })).body).toEqual(first.body)
})

test('Assumption idempotency-in-flight: the second request joins the first and gets the same response', async () => {
  const partner = new Partner(slow)
  const mine = await partner.open('ida')
  const key = randomUUID()
  const { request: first } = await mined(slow, () => partner.deposit('ida', mine, '1000', { key }))
  const second = partner.deposit('ida', mine, '1000', { key })
  expect(await isOpen(slow, second)).toBe(true)
  const [one, two] = await confirmed(slow, Promise.all([first, second]))
  expect(two.body).toEqual(one.body)
  expect([one, two].map(({ headers }) => headers.get(REPLAY))).toEqual(['false', 'true'])
  expect(await count(partner)).toBe(1)
})

test('Assumption idempotency-in-flight: or it is a conflict, when so set', async () => {
  const partner = new Partner(switched)
  const mine = await partner.open('ida')
  const key = randomUUID()
  const { request } = await mined(switched, () => partner.deposit('ida', mine, '1000', { key }))
  expect(outcome(await partner.deposit('ida', mine, '1000', { key }))).toBe('409 idempotency_key_in_progress')
  const first = await confirmed(switched, request)
  expect((await partner.deposit('ida', mine, '1000', { key })).body).toEqual(first.body)
})

test('Assumption idempotency-ttl: responses are kept for 24 hours of the sandbox clock', async () => {
  const key = randomUUID()
  const first = await acme.deposit('ida', portfolio, '1000', { key })
  await sandbox.clock.advance(24 * HOUR)
  expect((await acme.deposit('ida', portfolio, '1000', { key })).body).toEqual(first.body)
  await sandbox.clock.advance(1)
  const later = await acme.deposit('ida', portfolio, '1000', { key })
  expect(later.body.tx_hash).not.toBe(first.body.tx_hash)
})

test('Assumption idempotency-ttl: or as long as set', async () => {
  const partner = new Partner(switched)
  const create = async (key: string) =>
    (await partner.post('end_users/alice/portfolios', await partner.portfolioBody('aave-usdc'), { key })).body
  const key = randomUUID()
  const first = await create(key)
  await switched.clock.advance(HOUR)
  expect(await create(key)).toEqual(first)
  await switched.clock.advance(1)
  expect((await create(key)).portfolio_id).not.toBe(first.portfolio_id)
})

test('Assumption idempotency-errors: what the operation decided is kept', async () => {
  const key = randomUUID()
  const empty = await acme.open('ida')
  const refused = await acme.withdraw('ida', empty, '500', { key })
  expect(outcome(refused)).toBe('422 insufficient_balance')
  await acme.deposit('ida', empty, '1000')
  const again = await acme.withdraw('ida', empty, '500', { key })
  expect([outcome(again), again.headers.get(REPLAY)]).toEqual(['422 insufficient_balance', 'true'])
  expect(again.body).toEqual(refused.body)
  expect(outcome(await acme.withdraw('ida', empty, '500'))).toBe('200')
})

test('Assumption idempotency-errors: validation and authentication errors are not', async () => {
  const key = randomUUID()
  const send = (amount: string, headers: Record<string, string> = {}) =>
    acme.deposit('ida', portfolio, amount, { key, headers }).then(outcome)
  expect(await send('many')).toBe('400 validation_error')
  expect(await send('0')).toBe('400 validation_error')
  expect(await send('1000', { authorization: 'Bearer x' })).toBe('401 invalid_idp_token')
  expect(await send('1000', { 'x-user-token': 'x' })).toBe('401 invalid_user_token')
  expect(await send('1000')).toBe('200')
})

test('Assumption idempotency-replay-header: true or false', async () => {
  const key = randomUUID()
  const replays = async () => (await acme.deposit('ida', portfolio, '1000', { key })).headers.get(REPLAY)
  expect([await replays(), await replays(), await replays()]).toEqual(['false', 'true', 'true'])
  expect((await acme.get('pools')).headers.has(REPLAY)).toBe(false)
})
