import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseFaultHeader } from '../../src/faults/fault-header.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { outcome } from '../helpers/outcome.ts'
import { type Answer, Partner, testSandbox } from '../helpers/partner.ts'

test.each<[string, unknown]>([
  ['revert', { kind: 'revert' }],
  ['drop_connection; phase=after_broadcast', { kind: 'drop_connection', phase: 'after_broadcast' }],
  ['error;code=rate_limited;retry_after=7', { kind: 'error', with: { code: 'rate_limited', retry_after: 7 } }],
  [' error ; status = 503 ; probability = 0.5 ', { kind: 'error', probability: 0.5, with: { status: 503 } }],
  ['latency; delay=1s-3s', { kind: 'latency', with: { delay: '1s-3s' } }],
  ['x; a="1"; b="p;q=r"; c=true; d=', { kind: 'x', with: { a: '1', b: 'p;q=r', c: true, d: '' } }],
  ['', { kind: '' }],
  [';;', { kind: '' }],
  ['x; times=3', { kind: 'x', with: { times: 3 } }],
])('%j is read as %j', (header, rule) => {
  expect(parseFaultHeader(header)).toEqual(rule)
})

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testSandbox()
  acme = new Partner(sandbox)
})
afterAll(() => sandbox.stop())

const pools = (header: string): Promise<Answer> => acme.get('pools', { headers: { 'x-sandbox-fault': header } })

test('strikes this request only, at its phase, with its parameters, and is not listed', async () => {
  const answer = await pools('error; code=rate_limited; retry_after=7')
  expect(outcome(answer)).toBe('429 rate_limited')
  expect(answer.headers.get('retry-after')).toBe('7')
  expect(sandbox.faults.list()).toEqual([])
  expect(outcome(await acme.get('pools'))).toBe('200')
})

test('strikes a transfer', async () => {
  const portfolio = await acme.open('dan')
  const revert = { headers: { 'x-sandbox-fault': 'revert' } }
  expect(outcome(await acme.deposit('dan', portfolio, '1000', revert))).toBe('422 transaction_reverted')
  const drop = { headers: { 'x-sandbox-fault': 'drop_connection; phase=after_broadcast' } }
  await expect(acme.deposit('dan', portfolio, '1000', drop)).rejects.toThrow()
  expect((await acme.deposit('dan', portfolio, '1000')).body.deposited).toBe('2000')
})

test('what it holds is let go when the faults are cleared', async () => {
  const down = await acme.deposit('dan', await acme.open('dan'), '1000', {
    headers: { 'x-sandbox-fault': 'chain_down' },
  })
  expect(outcome(down)).toBe('503 chain_unavailable')
  await sandbox.faults.clear()
  expect(outcome(await acme.deposit('dan', await acme.open('dan'), '1000'))).toBe('200')
})

describe('a header that makes no sense is 400 validation_error', () => {
  test.each([
    ['eror', 'kind: "eror" is not known; did you mean "error"?'],
    ['', 'kind: "" is not known; use one of drop_connection,'],
    ['error; phase=sometime', 'phase: "sometime" is not known; use one of on_request,'],
    ['error; cod=not_found', 'cod: "cod" is not known; did you mean "code"?'],
    ['error; retry_after=soon', 'retry_after: "soon" is not a whole number of at least 0'],
    ['error; times=3', 'times: "times" is not known; use one of code, status, retry_after'],
    ['latency; delay=long', 'delay: "long" is not a duration; write 0, 250ms, 2s'],
    ['revert', 'kind: revert can never strike list_pools; use one of deposit, withdraw'],
    ['error; phase=after_broadcast', 'kind: error can never strike list_pools at after_broadcast'],
    ['bad_signature', 'bad_signature with {"token":"user"} can never strike list_pools'],
    ['expired_cursor', 'kind: expired_cursor cannot strike this request'],
    ['pool_paused; phase=on_request; pool=aave-usdx', 'pool: "aave-usdx" is not known; did you mean "aave-usdc"?'],
  ])('%j', async (header, detail) => {
    const answer = await pools(header)
    expect(outcome(answer)).toBe('400 validation_error')
    expect(answer.body).toMatchObject({ param: 'X-Sandbox-Fault', detail: expect.stringContaining(detail) })
  })
})

test('is not read by the control interface', async () => {
  const response = await fetch(`${sandbox.controlUrl}/health`, { headers: { 'x-sandbox-fault': 'error' } })
  expect(response.status).toBe(200)
})
