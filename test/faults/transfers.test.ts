import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { FaultRule, SandboxHandle } from '../../src/index.ts'
import { isOpen } from '../helpers/confirmation.ts'
import { receiptOf } from '../helpers/on-chain.ts'
import { outcome } from '../helpers/outcome.ts'
import { type Answer, type Ask, Partner, testNamespace } from '../helpers/partner.ts'
import { struck } from './struck.ts'

let sandbox: SandboxHandle
let acme: Partner
let portfolio: string
beforeAll(async () => {
  sandbox = await testNamespace()
  await sandbox.clock.freeze()
  acme = new Partner(sandbox)
})
afterAll(() => sandbox.stop())
beforeEach(async () => {
  portfolio = await acme.open('dan')
})
afterEach(() => sandbox.faults.clear())

const fault = async (rule: FaultRule) => (await sandbox.faults.add(rule))[0]!
const deposit = (ask?: Ask): Promise<Answer> => acme.deposit('dan', portfolio, '1000', ask)
const transactions = async () =>
  (await acme.get('end_users/dan/transactions?limit=100')).body.data.filter(
    (one: { portfolio_id: string }) => one.portfolio_id === portfolio,
  )

/** A deposit on its way, held up by a fault that has struck. */
async function held(ask?: Ask): Promise<{ request: Promise<Answer> }> {
  const request = deposit(ask)
  request.catch(() => undefined)
  await struck(sandbox)
  return { request }
}

const AFTER = ['after_broadcast', 'after_confirmation'] as const
const WITHIN = ['before_broadcast', ...AFTER] as const

describe('the connection ends and the work goes on', () => {
  test.each<FaultRule>(
    WITHIN.flatMap((phase): FaultRule[] => [
      { kind: 'drop_connection', phase, with: { how: 'reset' } },
      { kind: 'drop_connection', phase, with: { how: 'close' } },
      { kind: 'drop_connection', phase, with: { how: 'truncate', bytes: 3 } },
    ]),
  )('%j', async (rule) => {
    await fault(rule)
    const key = randomUUID()
    await expect(deposit({ key })).rejects.toThrow()
    const retried = await deposit({ key })
    expect(retried).toMatchObject({ status: 200, body: { deposited: '1000' } })
    expect(await transactions()).toMatchObject([{ tx_hash: retried.body.tx_hash }])
  })

  test.each(WITHIN)('hang at %s: no answer, but a transaction; then the connection is closed', async (phase) => {
    await fault({ kind: 'hang', phase })
    const { request } = await held()
    await expect.poll(transactions).toHaveLength(1)
    expect(await isOpen(sandbox, request)).toBe(true)
    await sandbox.faults.clear()
    await expect(request).rejects.toThrow()
  })
})

describe('error', () => {
  test('before_broadcast: nothing happens, and the same key may try again', async () => {
    for (const status of [429, 503] as const) {
      await fault({ kind: 'error', phase: 'before_broadcast', with: { status, retry_after: 3 } })
      const key = randomUUID()
      const refused = await deposit({ key })
      expect(refused).toMatchObject({ status })
      expect(refused.headers.get('retry-after')).toBe('3')
      expect(await transactions()).toHaveLength(status === 429 ? 0 : 1)
      expect((await deposit({ key })).status).toBe(200)
    }
  })

  test.each([...AFTER, 'during_response'] as const)(
    '%s: the client is told a lie, and the money has moved',
    async (phase) => {
      await fault({ kind: 'error', phase, match: { operation: 'deposit' }, with: { status: 504, retry_after: 3 } })
      const key = randomUUID()
      const told = await deposit({ key })
      expect(outcome(told)).toBe('504 gateway_timeout')
      expect(told.headers.get('retry-after')).toBe('3')
      expect(told.headers.get('x-service-request-id')).toBe(told.body.request_id)
      const retried = await deposit({ key })
      expect(retried).toMatchObject({ status: 200, body: { deposited: '1000' } })
      expect(await transactions()).toMatchObject([{ tx_hash: retried.body.tx_hash }])
    },
  )
})

describe('delays', () => {
  test.each<FaultRule>([
    ...WITHIN.map((phase): FaultRule => ({ kind: 'latency', phase, with: { delay: '20s' } })),
    { kind: 'slow_confirmation', with: { delay: '20s' } },
  ])('%j waits on the sandbox clock', async (rule) => {
    await fault(rule)
    const { request } = await held()
    await sandbox.clock.advance(19_999)
    expect(await isOpen(sandbox, request)).toBe(true)
    expect(await transactions()).toHaveLength('phase' in rule && rule.phase === 'after_confirmation' ? 1 : 0)
    await sandbox.clock.advance(1)
    expect(outcome(await request)).toBe('200')
  })

  test('slow_confirmation takes 45 s unless told otherwise', async () => {
    expect((await fault({ kind: 'slow_confirmation' })).explanation).toBe(
      'The confirmation takes 45s longer once the transaction is out.',
    )
  })

  test('stuck: no confirmation however long, until the fault is taken away', async () => {
    const { id } = await fault({ kind: 'stuck' })
    const { request } = await held()
    await sandbox.clock.advance(86_400_000)
    expect(await isOpen(sandbox, request)).toBe(true)
    expect(await transactions()).toEqual([])
    await fetch(`${sandbox.controlUrl}/faults/${id}`, { method: 'DELETE' })
    expect(outcome(await request)).toBe('200')
    expect(await transactions()).toHaveLength(1)
  })
})

describe('on the chain', () => {
  test('revert: the transaction stands in a block and has failed; no funds moved', async () => {
    await fault({ kind: 'revert' })
    const reverted = await deposit()
    expect(outcome(reverted)).toBe('422 transaction_reverted')
    const [hash] = /0x[0-9a-f]{64}/.exec(reverted.body.detail)!
    expect(await receiptOf(sandbox, hash)).toMatchObject({ status: '0x0' })
    expect(await transactions()).toEqual([])
    expect((await deposit()).body).toMatchObject({ deposited: '1000' })
  })

  test('revert: a withdrawal fails and the position stays', async () => {
    const shown = async () => (await acme.get('end_users/dan/portfolios?limit=100')).body.data
    await deposit()
    const before = await shown()
    expect(before).toContainEqual(expect.objectContaining({ portfolio_id: portfolio, deposited: '1000' }))
    await fault({ kind: 'revert', match: { operation: 'withdraw' } })
    expect(outcome(await acme.withdraw('dan', portfolio, '400'))).toBe('422 transaction_reverted')
    expect(await shown()).toEqual(before)
    expect(outcome(await acme.withdraw('dan', portfolio, '400'))).toBe('200')
  })

  test('reorg: another block, the same transaction, settled once', async () => {
    await fault({ kind: 'reorg' })
    const { status, body } = await deposit()
    expect(status).toBe(200)
    expect(await sandbox.faults.list()).toMatchObject([{ hits: 1 }])
    expect(await receiptOf(sandbox, body.tx_hash)).toMatchObject({ status: '0x1' })
    expect(await transactions()).toMatchObject([{ tx_hash: body.tx_hash, amount_changed: '1000' }])
    expect((await deposit()).body).toMatchObject({ deposited: '2000' })
  })

  test('chain_down on_request: 503 with Retry-After until released', async () => {
    await fault({ kind: 'chain_down' })
    const down = await deposit()
    expect(outcome(down)).toBe('503 chain_unavailable')
    expect(Number(down.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(outcome(await deposit())).toBe('503 chain_unavailable')
    await sandbox.faults.clear()
    expect(outcome(await deposit())).toBe('200')
    expect(await transactions()).toHaveLength(1)
  })

  test('chain_down for a while: the chain is back by itself, and the same key goes through', async () => {
    await fault({ kind: 'chain_down', phase: 'before_broadcast', with: { for: '30s' } })
    const key = randomUUID()
    expect(outcome(await deposit({ key }))).toBe('503 chain_unavailable')
    await sandbox.clock.advance(29_999)
    expect(outcome(await deposit({ key }))).toBe('503 chain_unavailable')
    await sandbox.clock.advance(1)
    expect(outcome(await deposit({ key }))).toBe('200')
    expect(await transactions()).toHaveLength(1)
  })

  test('chain_down after_broadcast: the deposit waits for the chain and settles once', async () => {
    await fault({ kind: 'chain_down', phase: 'after_broadcast', with: { for: '10s' } })
    const { request } = await held()
    expect(await isOpen(sandbox, request)).toBe(true)
    await sandbox.clock.advance(10_000)
    expect(outcome(await request)).toBe('200')
    expect(await transactions()).toHaveLength(1)
  })

  test.each(['aave-usdc', 'morpho-usdc'])(
    "pool_paused: the transfer's pool reverts until mended (%s)",
    async (pool) => {
      const id = await acme.open('dan', pool)
      const pay = () => acme.deposit('dan', id, '1000').then(outcome)
      await fault({ kind: 'pool_paused', match: { operation: 'deposit' } })
      expect(await pay()).toBe('422 transaction_reverted')
      expect(await pay()).toBe('422 transaction_reverted')
      const other = await acme.open('dan', 'aave-weth')
      expect(outcome(await acme.deposit('dan', other, '1000'))).toBe('200')
      await sandbox.faults.clear()
      expect(await pay()).toBe('200')
    },
  )

  test.each(['aave-usdc', 'morpho-usdc', 'aave-weth', 'morpho-weth'])(
    'illiquid_pool: withdrawals fail until mended, deposits go through (%s)',
    async (pool) => {
      const id = await acme.open('dan', pool)
      const take = (amount: string) => acme.withdraw('dan', id, amount).then(outcome)
      expect(outcome(await acme.deposit('dan', id, '3000000'))).toBe('200')
      const { apy } = await acme.pool(pool)
      await fault({ kind: 'illiquid_pool', match: { operation: 'withdraw' } })
      expect(await take('1000000')).toBe('422 transaction_reverted')
      expect(await take('3000000')).toBe('422 transaction_reverted')
      if (pool.startsWith('aave')) expect(Number((await acme.pool(pool)).apy)).toBeGreaterThan(0.5)
      expect(outcome(await acme.deposit('dan', id, '1000000'))).toBe('200')
      expect(await take('1000000')).toBe('200')
      const other = await acme.open('dan', pool.startsWith('aave') ? 'morpho-usdc' : 'aave-usdc')
      expect(outcome(await acme.deposit('dan', other, '1000000'))).toBe('200')
      expect(outcome(await acme.withdraw('dan', other, '1000000'))).toBe('200')
      await sandbox.faults.clear()
      expect(Number((await acme.pool(pool)).apy)).toBeCloseTo(Number(apy), 4)
      expect(await take('3000000')).toBe('200')
      const audit = await fetch(`${sandbox.controlUrl}/audit`)
      expect(await audit.json()).toMatchObject({ ok: true })
    },
  )

  test('illiquid_pool, paused as well: mended in either order', async () => {
    const pay = () => acme.deposit('dan', portfolio, '1000000').then(outcome)
    const take = () => acme.withdraw('dan', portfolio, '1000000').then(outcome)
    await pay()
    const remove = (id: string) => fetch(`${sandbox.controlUrl}/faults/${id}`, { method: 'DELETE' })
    for (const first of ['pool_paused', 'illiquid_pool'] as const) {
      const rules: { id: string }[] = []
      for (const kind of ['pool_paused', 'illiquid_pool'] as const) {
        const rule = { phase: 'on_request', match: { operation: 'list_pools' }, with: { pool: 'aave-usdc' } } as const
        rules.push(await fault({ kind, ...rule }))
      }
      for (const _ of rules) await acme.get('pools')
      expect(await take()).toBe('422 transaction_reverted')
      const [one, two] = first === 'pool_paused' ? rules : rules.toReversed()
      await remove(one!.id)
      expect([await take(), await pay()]).toContain('422 transaction_reverted')
      await remove(two!.id)
      expect([await pay(), await take()]).toEqual(['200', '200'])
    }
  })

  test('pool_paused on_request, by id, for a while', async () => {
    await fault({ kind: 'pool_paused', phase: 'on_request', with: { pool: 'aave-usdc', for: '1m' } })
    expect(outcome(await deposit())).toBe('422 transaction_reverted')
    await sandbox.clock.advance(60_000)
    await expect.poll(() => deposit().then(outcome)).toBe('200')
  })

  test.each(['aave-usdc', 'morpho-usdc'])('apy_change: the pool pays another yield until mended (%s)', async (pool) => {
    const { apy: before } = await acme.pool(pool)
    await fault({ kind: 'apy_change', match: { operation: 'list_pools' }, with: { pool, apy: 0.5 } })
    expect(Number((await acme.pool(pool)).apy)).toBeCloseTo(0.5, 3)
    await sandbox.faults.clear()
    expect(Number((await acme.pool(pool)).apy)).toBeCloseTo(Number(before), 4)
  })

  test('two faults on one pool: it is mended when both are gone, and the chain answers', async () => {
    const rules = [await fault({ kind: 'pool_paused', match: { operation: 'deposit' } })]
    expect(outcome(await deposit())).toBe('422 transaction_reverted')
    rules.push(await fault({ kind: 'pool_paused', match: { operation: 'deposit' } }))
    expect(outcome(await deposit())).toBe('422 transaction_reverted')
    rules.push(await fault({ kind: 'chain_down' }))
    expect(outcome(await deposit())).toBe('503 chain_unavailable')
    const outcomes: string[] = []
    for (const { id } of rules) {
      await fetch(`${sandbox.controlUrl}/faults/${id}`, { method: 'DELETE' })
      outcomes.push(outcome(await deposit()))
    }
    expect(outcomes).toEqual(['503 chain_unavailable', '503 chain_unavailable', '200'])
  })
})
