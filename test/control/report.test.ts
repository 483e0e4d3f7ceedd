import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testSandbox()
  const partner = new Partner(sandbox)
  await partner.open('<script>alert(1)</script>')
})
afterAll(() => sandbox.stop())

const get = (query: string) => fetch(`${sandbox.baseUrl}/_sandbox/report${query}`)

test.each([
  ['json', 'application/json', /^\{\n {2}"verdict": "/],
  ['junit', 'application/xml', /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites/],
  ['sarif', 'application/sarif+json', /"version": "2\.1\.0"/],
  ['html', 'text/html', /^<!doctype html>/],
  ['markdown', 'text/markdown', /^## /],
  ['text', 'text/plain', /^(Passed|Failed|Inconclusive): /],
])('GET report?format=%s', async (format, type, beginning) => {
  const answer = await get(`?format=${format}`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`])
  expect(await answer.text()).toMatch(beginning)
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
