import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { isOpen, mined } from '../helpers/confirmation.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'

const DAY = 24 * 60 * 60 * 1000
const LISTS = ['pools', 'end_users/liv/portfolios', 'end_users/liv/transactions']

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testNamespace({ confirmationDelay: 'realistic' })
  acme = new Partner(sandbox)
  for (let i = 0; i < 26; i++) await acme.open('liv')
  await sandbox.clock.freeze()
})
afterAll(() => sandbox.stop())

const create = async (change: object) =>
  outcome(await acme.post('end_users/liv/portfolios', { ...(await acme.portfolioBody('aave-usdc')), ...change }))

describe('Limits: page size', () => {
  test.each(LISTS)('Limits: page size 1 to 100 (%s)', async (path) => {
    for (const limit of ['1', '100']) expect(outcome(await acme.get(`${path}?limit=${limit}`))).toBe('200')
    for (const limit of ['0', '101']) {
      expect(outcome(await acme.get(`${path}?limit=${limit}`))).toBe('400 validation_error')
    }
  })

  test('Limits: page size 25 by default', async () => {
    expect((await acme.get('end_users/liv/portfolios')).body).toMatchObject({ data: { length: 25 }, has_more: true })
  })

  test.each(LISTS)('Limits: page size is described as such (%s)', async (path) => {
    const { paths } = (await (await fetch(`${sandbox.baseUrl}/openapi.json`)).json()) as {
      paths: Record<string, { get: { parameters: { name: string; schema: object }[] } }>
    }
    const { parameters } = paths[`/v1/partner/${path.replace('liv', '{external_id}')}`]!.get
    expect(parameters.find(({ name }) => name === 'limit')?.schema).toMatchObject({
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 25,
    })
  })
})

test('Limits: portfolio name 1 to 50 characters', async () => {
  const names = ['', 'n', 'n'.repeat(50), 'n'.repeat(51)]
  const outcomes = await Promise.all(names.map((name) => create({ name })))
  expect(outcomes).toEqual(['400 validation_error', '201', '201', '400 validation_error'])
})

test('Limits: portfolio description at most 500 characters', async () => {
  const descriptions = ['', 'd'.repeat(500), 'd'.repeat(501)]
  const outcomes = await Promise.all(descriptions.map((description) => create({ description })))
  expect(outcomes).toEqual(['201', '201', '400 validation_error'])
})

test('Limits: cursor lifetime 7 days', async () => {
  const { next_cursor } = (await acme.get('pools?limit=1')).body
  const use = async () => outcome(await acme.get(`pools?starting_after=${next_cursor}`))
  await sandbox.clock.advance(7 * DAY)
  expect(await use()).toBe('200')
  await sandbox.clock.advance(1)
  expect(await use()).toBe('410 cursor_expired')
})

test('Limits: a deposit and a withdrawal take 5 to 30 seconds when confirmations are realistic', async () => {
  const portfolio = await acme.open('liv')
  for (const operation of ['deposit', 'withdraw'] as const) {
    const { request } = await mined(sandbox, () => acme[operation]('liv', portfolio, '1000'))
    let waited = 0
    while (await isOpen(sandbox, request)) {
      await sandbox.clock.advance(1_000)
      waited += 1_000
    }
    expect(outcome(await request)).toBe('200')
    expect(waited).toBeGreaterThanOrEqual(5_000)
    expect(waited).toBeLessThanOrEqual(31_000)
  }
})
