import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { harObjections } from '../traffic/har-validator.ts'
import { runHere } from './in-process.ts'

let sandbox: SandboxHandle
let acme: Partner

beforeAll(async () => {
  sandbox = await testSandbox()
  acme = new Partner(sandbox)
  await acme.idpToken()
})
afterAll(() => sandbox.stop())
beforeEach(() => sandbox.requests.clear())

const at = (...args: string[]) => runHere(['requests', ...args], { YIELD_SANDBOX_URL: sandbox.baseUrl })

async function printed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await at(...args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

describe('requests list', () => {
  test('prints a line for each, newest first', async () => {
    const good = await acme.get('pools')
    const bad = await acme.get('end_users/alice/portfolios', { user: null })
    const rows = (await printed('list'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t'))
    expect(rows.map(([id, , , what, end, code]) => [id, what, end, code])).toEqual([
      [bad.body.request_id, 'GET /v1/partner/end_users/alice/portfolios', '401', 'invalid_user_token'],
      [good.headers.get('x-service-request-id'), 'GET /v1/partner/pools', '200', ''],
    ])
    expect(rows[0]![1]).toMatch(/^\d{4}-\d\d-\d\dT/)
    expect(Number(rows[0]![2])).toBeGreaterThan(0)
  })

  test('takes every filter', async () => {
    await sandbox.faults.add({ kind: 'error', match: { operation: 'list_pools' }, with: { status: 503 } })
    await acme.get('pools')
    await acme.get('pools')
    const flags = ['--operation', 'list_pools', '--tenant', 'acme', '--status', '5xx', '--code', 'service_unavailable']
    const [line] = (await printed('list', ...flags, '--end', 'answered', '--fault', 'error')).split('\n')
    expect(line).toContain('fault-1:error')
    for (const none of [
      ['--external-id', 'nobody'],
      ['--idempotency-key', 'none'],
      ['--connection', '99999'],
    ]) {
      expect(await printed('list', ...none)).toBe('')
    }
    const { data, next_cursor } = JSON.parse(await printed('list', '--limit', '1', '--json'))
    expect(data).toHaveLength(1)
    expect((await printed('list', '--starting-after', next_cursor)).trimEnd().split('\n')).toHaveLength(1)
  })

  test('prints an archive', async () => {
    await acme.get('pools')
    const har = JSON.parse(await printed('list', '--har'))
    expect(harObjections(har)).toBe('')
    expect(har.log.entries).toHaveLength(1)
  })

  test.each([
    [['--operation', 'depositt'], /operation: .*did you mean "deposit"/],
    [['--status', 'bad'], /status: must be a status/],
    [['--limit', '101'], /limit: .*100/],
    [['--limit', 'many'], /whole number/],
    [['--starting-after', 'x'], /not a cursor/],
  ])('%j is refused in the words of the sandbox, with code 2', async (flags, words) => {
    const { code, stdout, stderr } = await at('list', ...flags)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(words)
  })
})

describe('requests show', () => {
  test('prints the sentences, what was sent and what came', async () => {
    const { body } = await acme.get('end_users/alice/portfolios?limit=1', { user: null })
    const text = await printed('show', body.request_id)
    expect(text).toMatch(/^acme asked for the portfolios of alice/)
    expect(text).toMatch(/^> GET \/v1\/partner\/end_users\/alice\/portfolios\?limit=1$/m)
    expect(text).toMatch(/^< 401$/m)
    expect(text).not.toContain(await acme.idpToken())
    expect(JSON.parse(await printed('show', body.request_id, '--json'))).toEqual(
      await sandbox.requests.get(body.request_id),
    )
    expect(JSON.parse(await printed('show', body.request_id, '--har')).log.entries).toHaveLength(1)
  })

  test('of an unknown one is refused', async () => {
    const { code, stderr } = await at('show', 'req_\u001b[31mnone')
    expect(code).toBe(2)
    expect(stderr).toMatch(/There is no request "req_\\u001b\[31mnone"/)
  })
})

test('a terminal obeys nothing of what a client sent', async () => {
  await acme.post('end_users', { external_id: '<script>\u001b[2J\u009b31m\u202e\r\nreq_faked' })
  await acme.get(`end_users/${encodeURIComponent('\u001b]0;title\u0007')}/portfolios`)
  const { request_id } = (await sandbox.requests.list({ operation: 'create_end_user' })).data[0]!
  for (const args of [
    ['list'],
    ['list', '--json'],
    ['list', '--har'],
    ['show', request_id],
    ['show', request_id, '--json'],
  ]) {
    const text = await printed(...args)
    expect(text.replaceAll('\n', '').replaceAll('\t', '')).toMatch(/^\P{C}+$/u)
    if (args.includes('--json')) JSON.parse(text)
  }
  expect((await printed('list')).trimEnd().split('\n')).toHaveLength(2)
})
