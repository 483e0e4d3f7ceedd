import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testSandbox()
  const partner = new Partner(sandbox)
  await partner.open('<img>')
})
afterAll(() => sandbox.stop())

const get = (query: string) => fetch(`${sandbox.baseUrl}/_sandbox/report${query}`)

test.each([
  ['json', 'application/json', /^\{\n {2}"verdict": "/],
  ['junit', 'application/xml', /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites/],
  ['sarif', 'application/sarif+json', /"version": "2\.1\.0"/],
  ['html', 'text/html', /^<!doctype html>/],
  ['markdown', 'text/markdown', /^## /],
  ['text', 'text/plain', /\n(Passed|Failed|Inconclusive): .*\n$/s],
])('GET report?format=%s', async (format, type, beginning) => {
  const answer = await get(`?format=${format}`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`])
  expect(await answer.text()).toMatch(beginning)
})

test('without a format it is JSON, with what the client was exercised on', async () => {
  const report = await new ControlClient(sandbox.baseUrl).report()
  expect(report.coverage.operations).toContainEqual({ id: 'create_portfolio', exercised: true, count: 1 })
  expect(await sandbox.report()).toMatchObject({ verdict: report.verdict, seed: sandbox.seed })
})

test('what is required and was not exercised makes it inconclusive', async () => {
  const { verdict, unmet } = await sandbox.report({ require: ['reverted-transfer'] })
  expect(verdict).toBe('inconclusive')
  expect(unmet).toEqual(['The required finding reverted-transfer was not exercised.'])
})

test.each([
  ['?format=pdf', 'format'],
  ['?ended=perhaps', 'ended'],
  ['?require=retry-aftr', 'require'],
  ['?form=html', 'form'],
])('%s is refused naming the parameter', async (query, param) => {
  const answer = await get(query)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ code: 'validation_error', param })
})

test('an earlier id of a finding is refused with the new one', async () => {
  const answer = await get('?require=waits-sixty-seconds')
  expect(await answer.text()).toContain('client-timeout')
})

describe('a namespace', () => {
  test('has a report of its own, and a reset begins anew', async () => {
    const namespace = await sandbox.namespaces.create({ name: 'mine' })
    expect((await namespace.report()).summary).toBe('Inconclusive: no request of the client came.')
    await new Partner(namespace).open('alice')
    expect((await namespace.report()).coverage.operations.some(({ exercised }) => exercised)).toBe(true)
    await namespace.reset()
    expect((await namespace.report()).coverage.operations.some(({ exercised }) => exercised)).toBe(false)
  })

  test('has its report while its chain is away', async () => {
    const namespace = await sandbox.namespaces.create({ name: 'chainless' })
    await new Partner(namespace).open('alice')
    await namespace.faults.add({ kind: 'chain_down', match: { operation: 'deposit' }, with: { for: '10m' } })
    expect((await new Partner(namespace).deposit('alice', 'jar_unknown', '1')).status).toBeGreaterThanOrEqual(400)
    const [state] = (await sandbox.namespaces.list()).filter(({ name }) => name === 'chainless')
    expect(state?.ready).toBe(false)
    expect((await namespace.report()).coverage.operations).toContainEqual({
      id: 'create_portfolio',
      exercised: true,
      count: 1,
    })
    await namespace.faults.clear()
  })
})
