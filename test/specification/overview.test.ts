import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { confirmed, isOpen, mined } from '../helpers/confirmation.ts'
import { receiptOf } from '../helpers/on-chain.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

let sandbox: SandboxHandle
let acme: Partner
let openapi: { paths: Record<string, Record<string, { callbacks?: unknown }>>; webhooks?: unknown }
beforeAll(async () => {
  sandbox = await testNamespace({ confirmationDelay: '20s' })
  await sandbox.clock.freeze()
  acme = new Partner(sandbox)
  openapi = (await (await fetch(`${sandbox.baseUrl}/openapi.json`)).json()) as typeof openapi
})
afterAll(() => sandbox.stop())

describe('What the service does', () => {
  test('What the service does 1: lists pools, creates a portfolio on one, moves funds in and out', async () => {
    const pools = await acme.get('pools')
    const created = await acme.post('end_users/alice/portfolios', await acme.portfolioBody(pools.body.data[2].pool_id))
    expect([outcome(pools), outcome(created)]).toEqual(['200', '201'])
    const { portfolio_id } = created.body

    const deposit = await mined(sandbox, () => acme.deposit('alice', portfolio_id, '5000'))
    expect((await confirmed(sandbox, deposit.request)).body).toMatchObject({ portfolio_id, deposited: '5000' })
    const withdrawal = await mined(sandbox, () => acme.withdraw('alice', portfolio_id, '2000'))
    expect((await confirmed(sandbox, withdrawal.request)).body).toMatchObject({ portfolio_id, deposited: '3000' })
  })

  test('What the service does 2: the connection stays open until the transaction is confirmed; the answer has its hash', async () => {
    const { request } = await mined(sandbox, async () => acme.deposit('alice', await acme.open('alice'), '7000'))
    await sandbox.clock.advance(19_999)
    expect(await isOpen(sandbox, request)).toBe(true)
    const { tx_hash } = (await confirmed(sandbox, request)).body
    expect(await receiptOf(sandbox, tx_hash)).toMatchObject({ status: '0x1' })
  })

  test('What the service does 3: two credentials, Authorization and X-User-Token', async () => {
    const path = 'end_users/alice/portfolios'
    expect(outcome(await acme.get(path))).toBe('200')
    expect(outcome(await acme.get(path, { headers: { authorization: null } }))).toBe('401 token_missing')
    expect(outcome(await acme.get(path, { user: null }))).toBe('401 invalid_user_token')
  })

  test('What the service does 4: all paths are under /v1/, all bodies are JSON', async () => {
    expect((await fetch(`${sandbox.baseUrl}/partner/pools`)).status).toBe(404)
    const answers = [await acme.get('pools'), await acme.get('end_users/nobody/portfolios')]
    expect(answers.map(outcome)).toEqual(['200', '404 end_user_not_found'])
    for (const { headers } of answers) expect(headers.get('content-type')).toMatch(/^application\/(problem\+)?json\b/)
    const form = { body: 'name=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
    expect((await acme.ask('POST', 'end_users/alice/portfolios', form)).status).toBe(415)
  })

  test.each(['pools', 'end_users/alice/portfolios', 'end_users/alice/transactions'])(
    'What the service does 5: %s is a collection with cursor pagination',
    async (path) => {
      expect(Object.keys((await acme.get(path)).body)).toEqual(['data', 'has_more', 'next_cursor', 'prev_cursor'])
    },
  )

  test('What the service does 6: there are no webhooks', async () => {
    expect(openapi.webhooks).toBeUndefined()
    expect(outcome(await acme.post('webhooks', {}, { user: null }))).toBe('404 not_found')
  })
})

describe('States and transitions', () => {
  test('States and transitions 1: a new portfolio has zero deposited funds and is funded by a deposit', async () => {
    const portfolio = await acme.open('alice')
    const listed = async () =>
      (await acme.get('end_users/alice/portfolios?limit=100')).body.data.find(
        ({ portfolio_id }: { portfolio_id: string }) => portfolio_id === portfolio,
      )
    expect(await listed()).toMatchObject({ deposited: '0', total_balance: '0' })
    const { request } = await mined(sandbox, () => acme.deposit('alice', portfolio, '9000'))
    expect(await listed()).toMatchObject({ deposited: '0' })
    await confirmed(sandbox, request)
    expect(await listed()).toMatchObject({ deposited: '9000' })
  })

  test('States and transitions 2: no record has a state or status', async () => {
    for (const path of ['pools', 'end_users/alice/portfolios', 'end_users/alice/transactions']) {
      const [record] = (await acme.get(path)).body.data
      expect(Object.keys(record)).not.toEqual(expect.arrayContaining([expect.stringMatching(/state|status/)]))
    }
  })
})

describe('Events', () => {
  test('Events 1: no operation declares a callback, and none takes a callback address', async () => {
    const operations = Object.values(openapi.paths).flatMap((path) => Object.values(path))
    expect(operations.length).toBeGreaterThan(7)
    expect(operations.filter(({ callbacks }) => callbacks !== undefined)).toEqual([])
    expect(JSON.stringify(openapi.paths)).not.toMatch(/webhook|callback_url/i)
  })

  test('Events 2: a client that loses the connection finds the outcome in the transactions list', async () => {
    const portfolio = await acme.open('alice')
    const connection = new AbortController()
    const { request } = await mined(sandbox, () =>
      acme.deposit('alice', portfolio, '4321', { signal: connection.signal }),
    )
    connection.abort()
    await expect(request).rejects.toThrow()
    const newest = async () => {
      await sandbox.clock.advance(10_000)
      return (await acme.get('end_users/alice/transactions?limit=1')).body.data[0]
    }
    await expect.poll(newest).toMatchObject({ portfolio_id: portfolio, type: 'deposit', amount_changed: '4321' })
  })
})
