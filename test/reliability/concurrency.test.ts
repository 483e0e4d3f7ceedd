import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { crossEachOther, depositAtOnce, ledger, open, openEachTime, POOLS } from './transfers-at-once.ts'

openEachTime()

// More of them: concurrency.long.test.ts.
describe('60 concurrent transfers on 15 portfolios', () => {
  test('deposits all succeed, once each, and the ledger is the chain', () => depositAtOnce(3))

  test('deposits and withdrawals that cross each other keep the ledger sound', () => crossEachOther(3))
})

describe('one wallet, spent from many sides', () => {
  test('pays what it holds and no more', async () => {
    const portfolios = await Promise.all(
      Array.from({ length: 10 }, (_, i) => open.acme.open('carol', POOLS[i % 2 ? 0 : 3]!)),
    )
    const answers = await Promise.all(
      portfolios.map((portfolio) => open.acme.deposit('carol', portfolio, '200000000000')),
    )
    const paid = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status, body }) => status === 422 && body.code === 'insufficient_balance')
    expect([paid.length, refused.length]).toEqual([5, 5])
    await ledger.expectSound()
  })

  test('a position is emptied once', async () => {
    const portfolio = await open.acme.open('carol')
    await open.acme.deposit('carol', portfolio, '5000000')
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => open.acme.withdraw('carol', portfolio, '5000000')),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ body }) => body.code === 'insufficient_balance')).toHaveLength(7)
    await ledger.expectSound()
  })
})

describe('concurrent retries with one Idempotency-Key', () => {
  test.each(['deposit', 'withdraw'] as const)('make one %s', async (operation) => {
    const portfolio = await open.acme.open('carol')
    await open.acme.deposit('carol', portfolio, '9000000')
    const key = randomUUID()
    const spellings = [key, key.toUpperCase(), `"${key}"`]
    const answers = await Promise.all(
      Array.from({ length: 21 }, (_, i) =>
        open.acme[operation]('carol', portfolio, '1000', { key: spellings[i % 3]! }),
      ),
    )
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    const replays = answers.map(({ headers }) => headers.get('idempotency-key-replay'))
    expect(replays.filter((replay) => replay === 'false')).toHaveLength(1)
    const ids = answers.map(({ headers }) => headers.get('x-service-request-id'))
    expect(new Set(ids).size).toBe(21)
    expect((await open.acme.get('end_users/carol/transactions')).body.data).toHaveLength(2)
    await ledger.expectSound()
  })

  test('make one portfolio, and one end user even without a key', async () => {
    const users = await Promise.all(
      Array.from({ length: 10 }, () => open.acme.post('end_users', { external_id: 'dave' })),
    )
    expect(new Set(users.map(({ body }) => body.id)).size).toBe(1)
    const body = await open.acme.portfolioBody('morpho-usdc')
    const key = randomUUID()
    const all = Array.from({ length: 10 }, () => open.acme.post('end_users/dave/portfolios', body, { key }))
    expect(new Set((await Promise.all(all)).map(({ body }) => body.portfolio_id)).size).toBe(1)
    expect((await open.acme.get('end_users/dave/portfolios')).body.data).toHaveLength(1)
  })

  test('with different bodies: one is carried out, the others are told', async () => {
    const portfolio = await open.acme.open('carol')
    const key = randomUUID()
    const answers = await Promise.all(
      ['1000', '2000', '3000'].map((amount) => open.acme.deposit('carol', portfolio, amount, { key })),
    )
    const codes = answers.map(({ status, body }) => (status === 200 ? 'done' : body.code)).sort()
    expect(codes).toEqual(['done', ...Array(2).fill('idempotency_key_in_use_with_different_params')])
    await ledger.expectSound()
  })
})
