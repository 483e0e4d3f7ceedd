import { randomUUID } from 'node:crypto'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import type { ScenarioRun } from '../../src/control/contract.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { isOpen, mined } from '../helpers/confirmation.ts'
import { receiptOf } from '../helpers/on-chain.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { CarelessClient, CorrectClient } from './clients.ts'

let sandbox: SandboxHandle
let control: ControlClient
let portfolioId: string
let correct: CorrectClient
let careless: CarelessClient

beforeAll(async () => {
  sandbox = await testSandbox()
  control = new ControlClient(sandbox.baseUrl)
})
afterAll(() => sandbox.stop())
beforeEach(async () => {
  await sandbox.reset()
  portfolioId = await new Partner(sandbox).open('carol')
  correct = new CorrectClient(sandbox, portfolioId)
  careless = new CarelessClient(sandbox, portfolioId)
})

/** Ends the scenario, which must have struck as often as told, and says where carol's money is. */
async function money({ hits }: { hits?: number } = {}) {
  const { stopped } = await control.stopScenario()
  if (hits !== undefined) expect(hitsOf(stopped)).toBe(hits)
  expect(await sandbox.faults.list()).toEqual([])
  const partner = new Partner(sandbox)
  const { body: portfolios } = await partner.get('end_users/carol/portfolios')
  const { body: transactions } = await partner.get('end_users/carol/transactions?limit=100')
  return { deposited: Number(portfolios.data[0].deposited), transactions: transactions.data.length }
}

function hitsOf(run: ScenarioRun | null): number {
  return run?.faults.reduce((sum, fault) => sum + fault.hits, 0) ?? 0
}

describe('dropped-deposit', () => {
  test('the retry with the same key gets the answer of the one deposit', async () => {
    await control.startScenario('dropped-deposit')
    expect(await correct.move('deposit', '1000')).toMatchObject({ status: 200, body: { deposited: '1000' } })
    expect(await money({ hits: 1 })).toEqual({ deposited: 1000, transactions: 1 })
  })

  test('a fresh key deposits twice', async () => {
    await control.startScenario('dropped-deposit')
    await careless.move('deposit', '1000')
    expect(await money({ hits: 1 })).toEqual({ deposited: 2000, transactions: 2 })
  })
})

describe('dropped-withdraw', () => {
  beforeEach(async () => {
    await correct.move('deposit', '1000000')
    await control.startScenario('dropped-withdraw')
  })

  test('the retry with the same key gets the answer of the one withdrawal', async () => {
    const { status, body } = await correct.move('withdraw', '400000')
    expect(status).toBe(200)
    expect(await money({ hits: 1 })).toEqual({ deposited: Number(body.deposited), transactions: 2 })
    expect(Number(body.deposited)).toBeCloseTo(600_000, -2)
  })

  test('a fresh key withdraws twice', async () => {
    await careless.move('withdraw', '400000')
    const { deposited, transactions } = await money({ hits: 1 })
    expect(transactions).toBe(3)
    expect(deposited).toBeCloseTo(200_000, -2)
  })
})

describe('expired-cursor', () => {
  beforeEach(async () => {
    for (const amount of ['1000', '2000', '3000']) await correct.move('deposit', amount)
    await control.startScenario('expired-cursor')
  })

  test('starting again from the first page finds every transaction', async () => {
    expect(await correct.transactions()).toHaveLength(3)
    expect(await money()).toEqual({ deposited: 6000, transactions: 3 })
  })

  test('taking the refusal for the end misses the rest', async () => {
    expect(await careless.transactions()).toHaveLength(2)
    expect(await money()).toMatchObject({ transactions: 3 })
  })
})

describe('bad-user-signature', () => {
  beforeEach(() => control.startScenario('bad-user-signature'))

  test('a fresh user token and one repetition bring the deposit home', async () => {
    expect(await correct.move('deposit', '1000')).toMatchObject({ status: 200, body: { deposited: '1000' } })
    expect(await money({ hits: 1 })).toEqual({ deposited: 1000, transactions: 1 })
  })

  test('taking the refusal for an answer leaves nothing deposited', async () => {
    expect((await careless.moveBlindly('deposit', '1000')).body.code).toBe('invalid_user_token')
    expect(await money({ hits: 1 })).toEqual({ deposited: 0, transactions: 0 })
  })
})

describe('idp-token-expiry', () => {
  beforeEach(() => control.startScenario('idp-token-expiry'))

  test('a refreshed token and one repetition bring the deposit home', async () => {
    expect(await correct.move('deposit', '1000')).toMatchObject({ status: 200, body: { deposited: '1000' } })
    expect(await money({ hits: 1 })).toEqual({ deposited: 1000, transactions: 1 })
  })

  test('the same token again gets nowhere', async () => {
    await careless.move('deposit', '1000')
    expect((await careless.moveBlindly('deposit', '1000')).body.code).toBe('invalid_idp_token')
    expect(await money({ hits: 1 })).toEqual({ deposited: 0, transactions: 0 })
  })
})

describe('short-lived-token', () => {
  test('every token says that its last 60 seconds begin after two, and is good until then', async () => {
    await control.startScenario('short-lived-token')
    for (const _ of [1, 2]) {
      const answer = await new Partner(sandbox).tokenAnswer()
      expect(answer.expires_in).toBe(62)
      const { iat, exp } = decodeJwt(answer.access_token)
      expect(exp! - iat!).toBe(62)
    }
    expect(await correct.move('deposit', '1000')).toMatchObject({ status: 200, body: { deposited: '1000' } })
  })
})

describe('slow-confirmation', () => {
  const deposit = (signal?: AbortSignal) =>
    new Partner(sandbox).deposit('carol', portfolioId, '1000', { key: randomUUID(), ...(signal && { signal }) })
  beforeEach(() => control.startScenario('slow-confirmation'))

  test('who waits is answered after 61 seconds', async () => {
    const { request } = await mined(sandbox, () => deposit())
    await sandbox.clock.advance(60_000)
    expect(await isOpen(sandbox, request)).toBe(true)
    await sandbox.clock.advance(1_000)
    expect(await request).toMatchObject({ status: 200, body: { deposited: '1000' } })
    expect(await money({ hits: 1 })).toEqual({ deposited: 1000, transactions: 1 })
  })

  test('who gives up after 30 seconds and takes a fresh key deposits twice', async () => {
    const patience = new AbortController()
    const { request } = await mined(sandbox, () => deposit(patience.signal))
    await sandbox.clock.advance(30_000)
    expect(await isOpen(sandbox, request)).toBe(true)
    patience.abort()
    await expect(request).rejects.toThrow(/abort/i)
    const again = deposit()
    await sandbox.clock.advance(31_000)
    expect(await again).toMatchObject({ status: 200, body: { deposited: '2000' } })
    expect(await money({ hits: 1 })).toEqual({ deposited: 2000, transactions: 2 })
  })
})

describe('unknown-fields', () => {
  beforeEach(() => control.startScenario('unknown-fields'))

  test('whoever ignores them notices nothing', async () => {
    const { status, body } = await correct.move('deposit', '1000')
    expect(body).toMatchObject({ deposited: '1000', added_text: expect.any(String) })
    expect(status).toBe(200)
    expect(await correct.transactions()).toHaveLength(1)
    expect(await money()).toEqual({ deposited: 1000, transactions: 1 })
  })

  test('a strict parser takes the deposit for a failure and repeats it', async () => {
    await careless.move('deposit', '1000', 3)
    expect(await money()).toEqual({ deposited: 3000, transactions: 3 })
  })
})

describe('outage', () => {
  beforeEach(() => control.startScenario('outage'))

  test('the same key, for as long as it takes, deposits once', async () => {
    expect(await correct.move('deposit', '1000')).toMatchObject({ status: 200, body: { deposited: '1000' } })
    expect(await money({ hits: 1 })).toEqual({ deposited: 1000, transactions: 1 })
  })

  test('a job that is queued again under a fresh key after six attempts deposits twice', async () => {
    const partner = new Partner(sandbox)
    const send = (key: string) => partner.deposit('carol', portfolioId, '1000', { key })
    const [key, fresh] = [randomUUID(), randomUUID()]
    for (let attempt = 0; attempt < 6; attempt++) await expect(send(key)).rejects.toThrow()
    expect(await send(fresh)).toMatchObject({ status: 200 })
    expect(await money({ hits: 1 })).toEqual({ deposited: 2000, transactions: 2 })
  })
})

describe('reverted-deposit', () => {
  beforeEach(() => control.startScenario('reverted-deposit'))

  test('the refusal says so, and a new attempt with a fresh key succeeds', async () => {
    const refused = await correct.move('deposit', '1000')
    expect(refused).toMatchObject({ status: 422, body: { code: 'transaction_reverted' } })
    const [hash = ''] = /0x[0-9a-f]{64}/.exec(refused.body.detail) ?? []
    expect((await receiptOf(sandbox, hash))?.status).toBe('0x0')
    expect(await correct.move('deposit', '1000')).toMatchObject({ status: 200, body: { deposited: '1000' } })
    expect(await money({ hits: 1 })).toEqual({ deposited: 1000, transactions: 1 })
  })

  test('the same key for a new attempt gets the same refusal for ever, and nothing is deposited', async () => {
    const key = randomUUID()
    for (const _ of [1, 2, 3]) {
      expect((await careless.moveBlindly('deposit', '1000', key)).body.code).toBe('transaction_reverted')
    }
    expect(await money({ hits: 1 })).toEqual({ deposited: 0, transactions: 0 })
  })
})

describe('rate-limited', () => {
  beforeEach(() => control.startScenario('rate-limited'))

  test('who waits as long as it is told, and keeps its key, deposits once', async () => {
    expect(await correct.move('deposit', '1000')).toMatchObject({ status: 200, body: { deposited: '1000' } })
    expect(await money({ hits: 2 })).toEqual({ deposited: 1000, transactions: 1 })
  })

  test('who takes the refusal for an answer deposits nothing', async () => {
    const { status, headers, body } = await careless.moveBlindly('deposit', '1000')
    expect([status, headers.get('retry-after'), body.code]).toEqual([429, '2', 'rate_limited'])
    expect(await money({ hits: 1 })).toEqual({ deposited: 0, transactions: 0 })
  })
})

describe('flaky-network', () => {
  beforeEach(() => control.startScenario('flaky-network'))

  test('repeating with the same key moves each amount once', async () => {
    for (const amount of ['1000', '2000', '3000', '4000']) {
      expect((await correct.move('deposit', amount)).status).toBe(200)
    }
    expect((await correct.move('withdraw', '5000')).status).toBe(200)
    expect(await correct.transactions()).toHaveLength(5)
    const struck = (await control.scenarios()).current
    expect(hitsOf(struck), `seed ${sandbox.seed}`).toBeGreaterThan(2)
    const { deposited, transactions } = await money()
    expect(transactions).toBe(5)
    expect(deposited).toBeCloseTo(5000, -1)
  })

  test('fresh keys move some amounts twice', async () => {
    for (const amount of ['1000', '2000', '3000', '4000']) await careless.move('deposit', amount)
    expect((await money()).deposited, `seed ${sandbox.seed}`).toBeGreaterThan(10_000)
  })
})
