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
  wallet = (await acme.post('end_users', { external_id: 'wendy' })).body.wallet_address
})
afterAll(() => sandbox.stop())

/** A new portfolio with funds in it. */
async function funded(amount = '1000000', poolId?: string): Promise<string> {
  const portfolio = await acme.open('wendy', poolId)
  await confirmed(sandbox, acme.deposit('wendy', portfolio, amount))
  return portfolio
}
const withdraw = (portfolio: string, amount: string, ask?: Ask): Promise<Answer> =>
  confirmed(sandbox, acme.withdraw('wendy', portfolio, amount, ask))
const withdrawalsOf = async (portfolio: string) =>
  (await acme.get('end_users/wendy/transactions?limit=100')).body.data.filter(
    ({ portfolio_id, type }: Record<string, string>) => portfolio_id === portfolio && type === 'withdrawal',
  )

test.each(['aave-usdc', 'aave-weth', 'morpho-usdc', 'morpho-weth'])(
  'Endpoint 6: amount_minor is withdrawn from the portfolio, into the wallet (%s)',
  async (poolId) => {
    const portfolio = await funded('5000000', poolId)
    const { token_address } = await acme.pool(poolId)
    const before = await tokenBalance(sandbox, token_address!, wallet)
    const { status, body } = await withdraw(portfolio, '2000000')
    expect(status).toBe(200)
    expect((await tokenBalance(sandbox, token_address!, wallet)) - before).toBe(2_000_000n)
    expect(Math.abs(Number(body.total_balance) - 3_000_000)).toBeLessThanOrEqual(10)
  },
)

test('Endpoint 6: the response has tx_hash, a transaction of the wallet that succeeded on chain', async () => {
  const { tx_hash } = (await withdraw(await funded(), '1000')).body
  expect(tx_hash).toMatch(TX_HASH)
  expect(await receiptOf(sandbox, tx_hash)).toMatchObject({ status: '0x1', from: wallet.toLowerCase() })
})

test("Endpoint 6: the response has deposit's shape", async () => {
  const portfolio = await acme.open('wendy')
  const deposit = await confirmed(sandbox, acme.deposit('wendy', portfolio, '1000000'))
  const withdrawal = await withdraw(portfolio, '1000')
  expect(Object.keys(withdrawal.body)).toEqual(Object.keys(deposit.body))
  expect(withdrawal.status).toBe(deposit.status)
})

test('Endpoint 6: the whole balance can be withdrawn, principal and yield', async () => {
  const portfolio = await funded('1000000000')
  await sandbox.clock.advance(365 * 24 * 60 * 60 * 1000)
  const { data } = (await acme.get('end_users/wendy/portfolios?limit=100')).body
  const { total_balance } = data.find(({ portfolio_id }: { portfolio_id: string }) => portfolio_id === portfolio)
  expect(BigInt(total_balance)).toBeGreaterThan(1_000_000_000n)
  const { request } = await mined(sandbox, () => acme.withdraw('wendy', portfolio, total_balance))
  const { body } = await confirmed(sandbox, request)
  expect(body).toMatchObject({ deposited: '0', total_balance: '0' })
  expect(await withdrawalsOf(portfolio)).toMatchObject([{ deposited_amount_after: '0' }])
})

describe('Endpoint 6, body', () => {
  test.each([
    ['portfolio_id', undefined],
    ['portfolio_id', 17],
    ['amount_minor', undefined],
    ['amount_minor', 1000],
    ['amount_minor', '-1'],
    ['amount_minor', '1.5'],
  ])('Endpoint 6: %s as %j is 400 validation_error', async (field, value) => {
    const good = { portfolio_id: await acme.open('wendy'), amount_minor: '1000' }
    const answer = await acme.post('end_users/wendy/withdraw', { ...good, [field]: value })
    expect(outcome(answer)).toBe('400 validation_error')
  })
})

test('Endpoint 6: headers Authorization, X-User-Token, Idempotency-Key and Content-Type are required', async () => {
  const portfolio = await funded()
  const without = (ask: Ask) => acme.withdraw('wendy', portfolio, '1000', ask).then(outcome)
  expect(await without({ headers: { authorization: null } })).toBe('401 token_missing')
  expect(await without({ user: null })).toBe('401 invalid_user_token')
  expect(await without({ key: null })).toBe('400 idempotency_key_required')
  expect(await without({ headers: { 'content-type': 'text/plain' } })).toBe('415 unsupported_media_type')
  expect(await withdrawalsOf(portfolio)).toEqual([])
})

test('Endpoint 6, rule 1: the connection is held until the transaction is confirmed', async () => {
  const portfolio = await funded()
  const { request } = await mined(sandbox, () => acme.withdraw('wendy', portfolio, '1000'))
  await sandbox.clock.advance(9_999)
  expect(await isOpen(sandbox, request)).toBe(true)
  expect(outcome(await confirmed(sandbox, request))).toBe('200')
})

test('Endpoint 6, rule 2: when the connection drops, the transaction is processed and appears in the list', async () => {
  const portfolio = await funded()
  const connection = new AbortController()
  const { request } = await mined(sandbox, () =>
    acme.withdraw('wendy', portfolio, '1000', { signal: connection.signal }),
  )
  connection.abort()
  await expect(request).rejects.toThrow()
  expect(await withdrawalsOf(portfolio)).toEqual([])
  const poll = async () => {
    await sandbox.clock.advance(10_000)
    return withdrawalsOf(portfolio)
  }
  await expect.poll(poll).toMatchObject([{ amount_changed: '1000' }])
})

test('Endpoint 6, rule 3: the same Idempotency-Key after completion gives the cached response', async () => {
  const portfolio = await funded()
  const key = randomUUID()
  const first = await withdraw(portfolio, '1000', { key })
  const again = await acme.withdraw('wendy', portfolio, '1000', { key })
  expect(again).toMatchObject({ status: first.status, body: first.body })
  expect(await withdrawalsOf(portfolio)).toHaveLength(1)
})
