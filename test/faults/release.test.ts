import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { FaultRule, SandboxHandle } from '../../src/index.ts'
import { isOpen } from '../helpers/confirmation.ts'
import { outcome } from '../helpers/outcome.ts'
import { type Answer, Partner, testSandbox } from '../helpers/partner.ts'
import { struck } from './struck.ts'

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testSandbox()
  acme = new Partner(sandbox)
})
afterAll(() => sandbox.stop())
afterEach(() => sandbox.faults.clear())

const HOLDING: FaultRule[] = [
  { kind: 'hang', phase: 'on_request' },
  { kind: 'hang', phase: 'before_broadcast' },
  { kind: 'hang', phase: 'during_response' },
  { kind: 'latency', phase: 'on_request', with: { delay: '8d' } },
  { kind: 'latency', phase: 'before_broadcast', with: { delay: '8d' } },
  { kind: 'latency', phase: 'during_response', with: { delay: '8d' } },
  { kind: 'stuck' },
  { kind: 'slow_confirmation', with: { delay: '8d' } },
  { kind: 'chain_down', phase: 'after_broadcast' },
].map((rule) => ({ ...rule, match: { operation: 'deposit' } }) as FaultRule)

/** A deposit that a fault holds up; resolves to how it ended. */
async function held(rule: FaultRule): Promise<{ end: Promise<string> }> {
  const portfolio = await acme.open('dan')
  await sandbox.faults.add(rule)
  const deposit = acme.deposit('dan', portfolio, '1000')
  const end = deposit.then(outcome, () => 'dropped')
  await struck(sandbox)
  expect(await isOpen(sandbox, deposit)).toBe(true)
  return { end }
}

describe('nobody is left hanging', () => {
  test.each(HOLDING)('by a reset: %j', async (rule) => {
    const { end } = await held(rule)
    await sandbox.reset()
    acme = new Partner(sandbox)
    const answered = rule.phase === 'during_response' ? '200' : '503 sandbox_starting'
    expect(await end).toBe(rule.kind === 'hang' ? 'dropped' : answered)
    expect(await sandbox.faults.list()).toEqual([])
    expect(outcome(await acme.deposit('dan', await acme.open('dan'), '1000'))).toBe('200')
  })

  test.each(HOLDING)('when the rule is taken away: %j', async (rule) => {
    const { end } = await held(rule)
    const { id } = (await sandbox.faults.list())[0]!
    const removed = await fetch(`${sandbox.controlUrl}/faults/${id}`, { method: 'DELETE' })
    expect(removed.status).toBe(204)
    expect(await end).toBe(rule.kind === 'hang' ? 'dropped' : '200')
  })

  test('many held by one rule are let go together', async () => {
    await sandbox.faults.add({ kind: 'hang', phase: 'on_request', times: 'always' })
    const ends = Array.from({ length: 30 }, () => acme.get('pools').then(outcome, () => 'dropped'))
    await struck(sandbox, 30)
    await sandbox.faults.clear()
    expect(new Set(await Promise.all(ends))).toEqual(new Set(['dropped']))
  })

  test.each<FaultRule>([
    { kind: 'stuck' },
    { kind: 'hang', phase: 'on_request', match: { operation: 'deposit' } },
    { kind: 'chain_down', phase: 'after_broadcast' },
  ])('by a stop: %j', async (rule) => {
    const own = await testSandbox()
    const partner = new Partner(own)
    const portfolio = await partner.open('dan')
    await own.faults.add(rule)
    const end = partner.deposit('dan', portfolio, '1000').then(outcome, () => 'dropped')
    await struck(own)
    await own.stop()
    expect(await end).toMatch(/^(503 \w+|dropped)$/)
  })
})

describe('a reset mends what was broken', () => {
  test('a chain that was down, a pool that was paused and a yield that was changed', async () => {
    const { apy } = await acme.pool('aave-usdc')
    const broken = { match: { operation: 'list_pools' }, phase: 'on_request' } as const
    const portfolio = await acme.open('dan')
    await sandbox.faults.add(
      { kind: 'apy_change', ...broken, with: { pool: 'aave-usdc', apy: 2 } },
      { kind: 'pool_paused', ...broken, with: { pool: 'aave-usdc' } },
      { kind: 'chain_down', ...broken },
    )
    for (let i = 0; i < 3; i++) await acme.get('pools')
    expect((await sandbox.faults.list()).map(({ hits }) => hits)).toEqual([1, 1, 1])
    expect(outcome(await acme.deposit('dan', portfolio, '1000'))).toBe('503 chain_unavailable')
    await sandbox.reset()
    acme = new Partner(sandbox)
    expect(outcome(await acme.deposit('dan', await acme.open('dan'), '1000'))).toBe('200')
    expect(Number((await acme.pool('aave-usdc')).apy)).toBeCloseTo(Number(apy), 4)
  })

  test('and the same requests give the same run again', async () => {
    const run = async () => {
      await sandbox.reset()
      await sandbox.clock.freeze()
      acme = new Partner(sandbox)
      const match = { operation: 'list_pools' } as const
      await sandbox.faults.add({ kind: 'error', match, probability: 0.5, times: 'always', with: { status: 503 } })
      const answers: Answer[] = []
      for (let i = 0; i < 12; i++) answers.push(await acme.get('pools'))
      return answers.map(outcome)
    }
    const first = await run()
    expect(new Set(first)).toEqual(new Set(['200', '503 service_unavailable']))
    expect(await run()).toEqual(first)
  })
})

describe('the control interface', () => {
  test('is never struck', async () => {
    await sandbox.faults.add({ kind: 'error', times: 'always' }, { kind: 'hang', times: 'always' })
    for (const path of ['health', 'ready', 'credentials', 'faults', 'clock', 'assumptions']) {
      expect((await fetch(`${sandbox.controlUrl}/${path}`)).status, path).toBe(200)
    }
  })

  test('refuses a bad rule, naming field, value and what is allowed', async () => {
    const body = JSON.stringify({ kind: 'pool_paused', with: { pool: 'aave-usdx' } })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${sandbox.controlUrl}/faults`, { method: 'POST', headers, body })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      code: 'validation_error',
      param: 'with.pool',
      detail: expect.stringContaining('"aave-usdx" is not known; did you mean "aave-usdc"?'),
    })
  })
})
