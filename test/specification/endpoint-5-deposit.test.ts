import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { confirmed, isOpen, mined } from '../helpers/confirmation.ts'
import { receiptOf, tokenBalance } from '../helpers/on-chain.ts'
import { outcome } from '../helpers/outcome.ts'
import { type Answer, type Ask, Partner, testNamespace } from '../helpers/partner.ts'
import { TX_HASH } from '../helpers/patterns.ts'

let sandbox: SandboxHandle
let acme: Partner
let wallet: string
beforeAll(async () => {
  sandbox = await testNamespace({ confirmationDelay: '10s' })
  await sandbox.clock.freeze()
  acme = new Partner(sandbox)
  wallet = (await acme.post('end_users', { external_id: 'dan' })).body.wallet_address
})
afterAll(() => sandbox.stop())

const deposit = (portfolio: string, amount: string, ask?: Ask): Promise<Answer> =>
  confirmed(sandbox, acme.deposit('dan', portfolio, amount, ask))
const transactionsOf = async (portfolio: string) =>
  (await acme.get('end_users/dan/transactions?limit=100')).body.data.filter(
    ({ portfolio_id }: { portfolio_id: string }) => portfolio_id === portfolio,
  )

test.each(['aave-usdc', 'aave-weth', 'morpho-usdc', 'morpho-weth'])(
  'Endpoint 5: amount_minor moves from the wallet into the portfolio, in minor units of the token (%s)',
  async (poolId) => {
    const amount = poolId.endsWith('usdc') ? 1_234_567n : 1_500_000_000_000_000_000n
    const { token_address } = await acme.pool(poolId)
    const before = await tokenBalance(sandbox, token_address!, wallet)
    const portfolio = await acme.open('dan', poolId)
    expect(await deposit(portfolio, String(amount))).toMatchObject({ status: 200, body: { deposited: String(amount) } })
    expect(before - (await tokenBalance(sandbox, token_address!, wallet))).toBe(amount)
  },
)

test('Endpoint 5: the response has tx_hash, a transaction of the wallet that succeeded on chain', async () => {
  const { tx_hash } = (await deposit(await acme.open('dan'), '1000')).body
  expect(tx_hash).toMatch(TX_HASH)
  expect(await receiptOf(sandbox, tx_hash)).toMatchObject({ status: '0x1', from: wallet.toLowerCase() })
})

test('Endpoint 5: the response carries the updated balances', async () => {
  const portfolio = await acme.open('dan')
  await deposit(portfolio, '600000')
  const { body } = await deposit(portfolio, '400000')
  expect(body).toMatchObject({ portfolio_id: portfolio, deposited: '1000000' })
  expect(Math.abs(Number(body.total_balance) - 1_000_000)).toBeLessThanOrEqual(10)
})

describe('Endpoint 5, body', () => {
  test.each([
    ['portfolio_id', undefined],
    ['portfolio_id', 17],
    ['amount_minor', undefined],
    ['amount_minor', 1000],
    ['amount_minor', ''],
    ['amount_minor', '-1'],
    ['amount_minor', '1.5'],
    ['amount_minor', '1e3'],
    ['amount_minor', '0x10'],
    ['amount_minor', ' 10'],
  ])('Endpoint 5: %s as %j is 400 validation_error', async (field, value) => {
    const good = { portfolio_id: await acme.open('dan'), amount_minor: '1000' }
    const answer = await acme.post('end_users/dan/deposit', { ...good, [field]: value })
    expect(outcome(answer)).toBe('400 validation_error')
    expect(await transactionsOf(good.portfolio_id)).toEqual([])
  })
})

test('Endpoint 5: headers Authorization, X-User-Token, Idempotency-Key and Content-Type are required', async () => {
  const portfolio = await acme.open('dan')
  const without = (ask: Ask) => acme.deposit('dan', portfolio, '1000', ask).then(outcome)
  expect(await without({ headers: { authorization: null } })).toBe('401 token_missing')
  expect(await without({ user: null })).toBe('401 invalid_user_token')
  expect(await without({ key: null })).toBe('400 idempotency_key_required')
  expect(await without({ headers: { 'content-type': 'text/plain' } })).toBe('415 unsupported_media_type')
  expect(await transactionsOf(portfolio)).toEqual([])
})

test('Endpoint 5, rule 1: the connection is held until the transaction is confirmed', async () => {
  const portfolio = await acme.open('dan')
  const { request } = await mined(sandbox, () => acme.deposit('dan', portfolio, '1000'))
  await sandbox.clock.advance(9_999)
  expect(await isOpen(sandbox, request)).toBe(true)
  expect(outcome(await confirmed(sandbox, request))).toBe('200')
})

test('Endpoint 5, rule 2: when the connection drops, the transaction is processed and appears in the list', async () => {
  const portfolio = await acme.open('dan')
  const connection = new AbortController()
  const { request } = await mined(sandbox, () => acme.deposit('dan', portfolio, '1000', { signal: connection.signal }))
  connection.abort()
  await expect(request).rejects.toThrow()
  expect(await transactionsOf(portfolio)).toEqual([])
  const poll = async () => {
    await sandbox.clock.advance(10_000)
    return transactionsOf(portfolio)
  }
  await expect.poll(poll).toMatchObject([{ type: 'deposit', amount_changed: '1000' }])
})

test('Endpoint 5, rule 2: after a drop, the same Idempotency-Key gives the response that was lost', async () => {
  const portfolio = await acme.open('dan')
  const key = randomUUID()
  const connection = new AbortController()
  const { request } = await mined(sandbox, () =>
    acme.deposit('dan', portfolio, '1000', { key, signal: connection.signal }),
  )
  connection.abort()
  await expect(request).rejects.toThrow()
  const retried = await deposit(portfolio, '1000', { key })
  expect(await transactionsOf(portfolio)).toMatchObject([{ tx_hash: retried.body.tx_hash }])
})

test('Endpoint 5, rule 3: the same Idempotency-Key after completion gives the cached response', async () => {
  const portfolio = await acme.open('dan')
  const key = randomUUID()
  const first = await deposit(portfolio, '1000', { key })
  const again = await acme.deposit('dan', portfolio, '1000', { key })
  expect(again).toMatchObject({ status: first.status, body: first.body })
  expect(await transactionsOf(portfolio)).toHaveLength(1)
})
