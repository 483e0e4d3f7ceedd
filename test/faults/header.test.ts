import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseFaultHeader } from '../../src/faults/fault-rule.ts'
import { KINDS } from '../../src/faults/kinds/index.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { isOpen, mined } from '../helpers/confirmation.ts'
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
  expect(await sandbox.faults.list()).toEqual([])
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

test.each(['stuck', 'slow_confirmation; delay=8d', 'latency; phase=before_broadcast; delay=8d'])(
  'what it holds is let go when the faults are cleared: %s',
  async (header) => {
    const portfolio = await acme.open('dan')
    const deposit = acme.deposit('dan', portfolio, '1000', { headers: { 'x-sandbox-fault': header } })
    expect(await isOpen(sandbox, deposit)).toBe(true)
    await sandbox.faults.clear()
    expect(outcome(await deposit)).toBe('200')
  },
)

describe('harms nobody but its own exchange', () => {
  test.each(KINDS.map(({ kind, scope }) => [kind, scope] as const))('%s is of scope %s', async (kind, scope) => {
    const portfolio = await acme.open('dan')
    // Whatever it needs: what is wrong with the parameters must not matter.
    const header = `${kind}; phase=on_request; pool=aave-usdc; apy=0.5; for=1h`
    const answer = await acme.deposit('dan', portfolio, '1000', { headers: { 'x-sandbox-fault': header } })
    const refusal = `kind: ${kind} outlives the request and strikes others too; put it in force by POST /_sandbox/faults.`
    expect(outcome(answer)).toBe('400 validation_error')
    expect(answer.body.param).toBe('X-Sandbox-Fault')
    expect(answer.body.detail.endsWith(refusal)).toBe(scope === 'service')
    expect(outcome(await acme.deposit('dan', portfolio, '1000'))).toBe('200')
    expect((await fetch(`${sandbox.controlUrl}/ready`)).status).toBe(200)
  })

  test('those that break chains and pools, replace blocks under everybody or go on over later requests are of scope service', () => {
    const service = KINDS.filter(({ scope }) => scope === 'service').map(({ kind }) => kind)
    expect(service.sort()).toEqual(['apy_change', 'chain_down', 'illiquid_pool', 'outage', 'pool_paused', 'reorg'])
  })

  test.each(['stuck', 'slow_confirmation; delay=8d', 'latency; phase=after_broadcast; delay=8d'])(
    "%s holds its own transfer only while its client is there: the portfolio's next one goes on",
    async (header) => {
      const portfolio = await acme.open('dan')
      const patience = new AbortController()
      const headers = { 'x-sandbox-fault': header }
      const give = () => acme.deposit('dan', portfolio, '1000', { headers, signal: patience.signal })
      const { request: given } = await mined(sandbox, give)
      const next = acme.deposit('dan', portfolio, '500')
      // Others do not even wait for it.
      expect(outcome(await acme.deposit('erin', await acme.open('erin'), '1000'))).toBe('200')
      expect(await isOpen(sandbox, next)).toBe(true)
      patience.abort()
      await expect(given).rejects.toThrow('abort')
      // A client that goes away changes nothing of its transfer (spec: endpoint 5, rule 2).
      expect((await next).body).toMatchObject({ deposited: '1500' })
    },
  )
})

test('goes before the rules in force, which neither strike nor count the request', async () => {
  await sandbox.faults.add({ kind: 'error', times: 1, with: { status: 503 } })
  expect(outcome(await pools('error; code=rate_limited'))).toBe('429 rate_limited')
  expect(outcome(await pools('unknown_fields'))).toBe('200')
  expect(await sandbox.faults.list()).toMatchObject([{ hits: 0 }])
  expect(outcome(await acme.get('pools'))).toBe('503 service_unavailable')
  await sandbox.faults.clear()
})

describe('where there is a control token', () => {
  const controlToken = 'correct-horse'
  let guarded: SandboxHandle
  let partner: Partner
  beforeAll(async () => {
    guarded = await testSandbox({ controlToken })
    partner = new Partner(guarded)
  })
  afterAll(() => guarded.stop())

  const fault = { 'x-sandbox-fault': 'error; code=rate_limited' }
  const WRONG: Record<string, string>[] = [
    {},
    { 'x-sandbox-control-token': '' },
    { 'x-sandbox-control-token': 'wrong' },
    { 'x-sandbox-control-token': `${controlToken}x` },
    { 'x-sandbox-control-token': controlToken.slice(1) },
    { 'x-sandbox-control-token': `Bearer ${controlToken}` },
    { 'x-sandbox-control-token': `${controlToken}, ${controlToken}` },
  ]

  test.each(WRONG)('it needs it: %j', async (headers) => {
    const answer = await partner.post('end_users', { external_id: 'nobody' }, { headers: { ...fault, ...headers } })
    expect(outcome(answer)).toBe('401 control_token_required')
    expect(answer.body.param).toBe('X-Sandbox-Control-Token')
    expect(outcome(await partner.get('end_users/nobody/portfolios'))).toBe('404 end_user_not_found')
    // Nor is anything said about the fault to whoever may not bring one.
    const nonsense = { headers: { 'x-sandbox-fault': 'nonsense', ...headers } }
    expect(outcome(await partner.get('pools', nonsense))).toBe('401 control_token_required')
  })

  test('with it, the fault strikes; without a fault, it is not asked for', async () => {
    const headers = { ...fault, 'x-sandbox-control-token': controlToken }
    expect(outcome(await partner.get('pools', { headers }))).toBe('429 rate_limited')
    expect(outcome(await partner.get('pools'))).toBe('200')
  })

  test('at the token endpoint too, in the form of RFC 6749', async () => {
    const { client_id, client_secret } = guarded.tenants[0]!
    const { scope } = await guarded.credentials()
    const form = { grant_type: 'client_credentials', client_id, client_secret, scope }
    const ask = async (headers: Record<string, string>) => {
      const response = await fetch(guarded.authUrl, { method: 'POST', body: new URLSearchParams(form), headers })
      return { status: response.status, body: await response.json() }
    }
    const short = { 'x-sandbox-fault': 'short_lived_token; expires_in=45' }
    expect(await ask(short)).toMatchObject({ status: 401, body: { error: 'control_token_required' } })
    const known = { 'x-sandbox-control-token': controlToken }
    expect(await ask({ ...short, ...known })).toMatchObject({ status: 200, body: { expires_in: 45 } })
    expect(await ask({})).toMatchObject({ status: 200, body: { expires_in: 3600 } })
  })
})

describe('a header that makes no sense is 400 validation_error', () => {
  test.each([
    ['eror', 'kind: "eror" is not known; did you mean "error"?'],
    ['', 'kind: "" is not known; use one of drop_connection,'],
    ['error; phase=sometime', 'phase: "sometime" is not known; use one of on_request,'],
    ['error; cod=not_found', 'cod: is not a known field; did you mean "code"?'],
    ['error; retry_after=soon', 'retry_after: must be a whole number of at least 0 or "none"; got "soon"'],
    ['error; times=3', 'times: is not a known field; use one of code, status, retry_after'],
    ['latency; delay=long', 'delay: "long" is not a duration; write 0, 250ms, 2s'],
    ['revert', 'kind: revert can never strike list_pools; use one of deposit, withdraw'],
    ['error; phase=after_broadcast', 'kind: error can never strike list_pools at after_broadcast'],
    ['bad_signature', 'bad_signature with {"token":"user"} can never strike list_pools'],
    ['expired_cursor', 'kind: expired_cursor cannot strike this request'],
    ['pool_paused; phase=on_request; pool=aave-usdx', 'kind: pool_paused outlives the request'],
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
