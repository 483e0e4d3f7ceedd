import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { outcome } from '../helpers/outcome.ts'
import { type Answer, type Ask, Partner, testNamespace } from '../helpers/partner.ts'

let sandbox: SandboxHandle
let acme: Partner
let portfolio: string
beforeAll(async () => {
  sandbox = await testNamespace()
  acme = new Partner(sandbox)
  portfolio = await acme.open('ida')
  await acme.deposit('ida', portfolio, '1000000')
})
afterAll(() => sandbox.stop())

const count = async (list: string) => (await acme.get(`end_users/ida/${list}?limit=100`)).body.data.length

describe.each([
  ['create portfolio', 'portfolios'],
  ['deposit', 'transactions'],
  ['withdraw', 'transactions'],
])('%s', (operation, list) => {
  async function send(ask: Ask): Promise<Answer> {
    if (operation === 'deposit') return acme.deposit('ida', portfolio, '1000', ask)
    if (operation === 'withdraw') return acme.withdraw('ida', portfolio, '1000', ask)
    return acme.post('end_users/ida/portfolios', await acme.portfolioBody('aave-usdc'), ask)
  }

  test('Idempotency-Key: is required', async () => {
    const before = await count(list)
    expect(outcome(await send({ key: null }))).toBe('400 idempotency_key_required')
    expect(await count(list)).toBe(before)
  })

  test('Idempotency-Key: is a UUID v4', async () => {
    const uuidV1 = 'c232ab00-9414-11ec-b3c8-9f6bdeced846'
    for (const key of ['retry-1', uuidV1, randomUUID().replaceAll('-', '')]) {
      expect(outcome(await send({ key }))).toBe('400 validation_error')
    }
    expect((await send({ key: randomUUID().toUpperCase() })).status).toBeLessThan(300)
  })

  test('Idempotency-Key: reused when retrying the same operation, it happens once and is answered alike', async () => {
    const key = randomUUID()
    const before = await count(list)
    const first = await send({ key })
    for (let i = 0; i < 3; i++) {
      const { status, body } = await send({ key })
      expect({ status, body }).toEqual({ status: first.status, body: first.body })
    }
    expect(await count(list)).toBe(before + 1)
  })

  test('Idempotency-Key: reused at the same time, it happens once and is answered alike', async () => {
    const key = randomUUID()
    const before = await count(list)
    const answers = await Promise.all(Array.from({ length: 5 }, () => send({ key })))
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(await count(list)).toBe(before + 1)
  })

  test('Idempotency-Key: a fresh one is a new operation', async () => {
    const before = await count(list)
    const [first, second] = [await send({}), await send({})]
    expect(first.body).not.toEqual(second.body)
    expect(await count(list)).toBe(before + 2)
  })
})

test('Idempotency-Key: is not required elsewhere', async () => {
  expect((await acme.get('pools')).status).toBe(200)
  expect((await acme.post('end_users', { external_id: 'ivo' }, { key: null })).status).toBe(201)
})
