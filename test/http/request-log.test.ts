import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { connect } from 'node:net'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { FaultRule, SandboxHandle } from '../../src/index.ts'
import { mined } from '../helpers/confirmation.ts'
import { sandboxWith } from '../helpers/fixture-file.ts'
import { type Ask, Partner, testSandbox } from '../helpers/partner.ts'
import { openSandbox } from '../reliability/ledger.ts'
import { goodHeaders, send } from './raw-http.ts'

type Line = Record<string, unknown>

let lines: Line[] = []
const logged = new Writable({
  write(chunk, _encoding, done) {
    lines.push(JSON.parse(String(chunk)))
    done()
  },
})

let sandbox: SandboxHandle
let acme: Partner
let portfolio: string
beforeAll(async () => {
  sandbox = await testSandbox({ logger: pino({ level: 'info' }, logged) })
  acme = new Partner(sandbox)
  portfolio = await acme.open('dan')
})
afterAll(() => sandbox.stop())
beforeEach(async () => {
  await acme.get('end_users/dan/portfolios')
  await expect.poll(() => requests().at(-1)?.operation).toBe('list_portfolios')
  lines = []
})
afterEach(() => sandbox.faults.clear())

const requests = () => lines.filter(({ msg }) => msg === 'request')
const fault = async (rule: FaultRule) => (await sandbox.faults.add(rule))[0]!
const deposit = (ask?: Ask) => acme.deposit('dan', portfolio, '1000', ask)
const newest = async () => (await acme.get('end_users/dan/transactions')).body.data[0]

/** The only line there is, once it is there. */
async function onlyLine(): Promise<Line> {
  await expect.poll(requests).toHaveLength(1)
  expect(lines).toHaveLength(1)
  return lines[0]!
}

const COMMON = { level: 30, ms: expect.any(Number), request_id: expect.stringMatching(/^req_/) }
const DEPOSIT = {
  ...COMMON,
  method: 'POST',
  path: '/v1/partner/end_users/dan/deposit',
  operation: 'deposit',
  tenant: 'acme',
}

describe('a request leaves one line', () => {
  test('that says what it was and how it ended', async () => {
    const key = randomUUID()
    const { body, headers } = await deposit({ key })
    const { tx_hash, transaction_id } = body
    const line = await onlyLine()
    expect(line).toMatchObject({
      ...{ ...DEPOSIT, status: 200, ended: 'answered', idempotency_key: key, transaction_id, tx_hash },
      request_id: headers.get('x-service-request-id'),
    })
    for (const absent of ['code', 'fault', 'fault_explanation']) expect(line).not.toHaveProperty(absent)
  })

  test('but for those of orchestrators that learn that all is well', async () => {
    for (const probe of ['health', 'ready']) await (await fetch(`${sandbox.controlUrl}/${probe}`)).arrayBuffer()
    await (await fetch(`${sandbox.controlUrl}/health/none`)).arrayBuffer()
    expect(await onlyLine()).toMatchObject({ path: '/_sandbox/health/none', status: 404 })
  })

  test('a repetition names the transaction whose response it was given', async () => {
    const key = randomUUID()
    const { tx_hash } = (await deposit({ key })).body
    await onlyLine()
    lines = []
    await deposit({ key })
    expect(await onlyLine()).toMatchObject({ ...DEPOSIT, status: 200, idempotency_key: key, tx_hash })
  })

  test('that was refused: its code, whoever refused it', async () => {
    const REFUSED: [() => Promise<unknown>, Line][] = [
      [() => deposit({ key: 'x' }), { ...DEPOSIT, status: 400, code: 'validation_error' }],
      [
        () => deposit({ headers: { authorization: null } }),
        { status: 401, code: 'token_missing', operation: 'deposit' },
      ],
      [() => deposit({ body: '{' }), { ...DEPOSIT, status: 400, code: 'validation_error' }],
      [() => acme.deposit('dan', portfolio, '9'.repeat(40)), { ...DEPOSIT, status: 422, code: 'insufficient_balance' }],
      [() => acme.get('nothing'), { status: 404, code: 'not_found' }],
      [() => send(sandbox.baseUrl, { path: '/%zz' }), { path: '/%zz', status: 400, code: 'validation_error' }],
      [() => fetch(`${sandbox.controlUrl}/faults/x`, { method: 'DELETE' }), { status: 404, code: 'fault_not_found' }],
      [() => fetch(sandbox.authUrl, { method: 'POST' }), { status: 401, code: 'invalid_client', operation: 'token' }],
      [() => fetch(sandbox.authUrl), { status: 405, code: 'invalid_request' }],
    ]
    for (const [ask, expected] of REFUSED) {
      await ask()
      const line = await onlyLine()
      expect(line).toMatchObject({ ...COMMON, ended: 'answered', ...expected })
      // What is no Idempotency-Key might be anything.
      if (line.idempotency_key !== undefined) expect(line.idempotency_key).toMatch(/^[0-9a-f-]{36}$/)
      lines = []
    }
  })
})

test('a line names the namespace that it is about, and none where it is about the sandbox as a whole', async () => {
  await using mine = await sandbox.namespaces.create({ name: 'mine' })
  const [chain] = Object.entries((await mine.credentials()).rpc_urls)
  const asked: [path: string, namespace: string | undefined][] = [
    ['/v1/partner/pools', 'mine'],
    ['/_sandbox/namespaces/mine/clock', 'mine'],
    ['/_sandbox/clock', 'default'],
    ['/_sandbox/namespaces', undefined],
    ['/_sandbox/usage', undefined],
    ['/docs', undefined],
    ['/.well-known/jwks.json', undefined],
    ['/nothing', 'default'],
    [new URL(chain![1]).pathname, 'mine'],
    [`/rpc/${chain![0]}`, 'default'],
    ['/_sandbox/namespaces/No%20name/clock', undefined],
  ]
  const authorization = `Bearer ${await new Partner(mine).idpToken()}`
  for (const [path] of asked)
    await send(sandbox.baseUrl, { path, headers: { ...(path.startsWith('/v1') && { authorization }) } })
  const seen = () => requests().filter(({ operation }) => operation !== 'token')
  await expect.poll(seen).toHaveLength(asked.length)
  expect(seen().map(({ path, namespace }) => [path, namespace])).toEqual(asked)
})

test('an opaque key is named by its hash: it might be a secret that was put there by mistake', async () => {
  const service = { idempotency_key_format: 'opaque' as const }
  await using opaque = await sandboxWith((fixture) => Object.assign(fixture, { service }), {
    logger: pino({ level: 'info' }, logged),
  })
  const { client_secret } = opaque.tenants[0]!
  const partner = new Partner(opaque)
  const portfolio = await partner.open('dan')
  for (const [key, named] of [
    ['order-2029-04-01-0017', 'sha256:e29f758fdafc72d8'],
    [client_secret, expect.stringMatching(/^sha256:[0-9a-f]{16}$/)],
    ['{"level":60,"msg":"\\"}', expect.stringMatching(/^sha256:[0-9a-f]{16}$/)],
    ['0f1c2b34-8d5e-4f70-9a1b-2c3d4e5f6071', '0f1c2b34-8d5e-4f70-9a1b-2c3d4e5f6071'],
    ['too-short', undefined],
  ]) {
    lines = []
    for (const headers of [{}, { authorization: null }])
      await partner.deposit('dan', portfolio, '1000', { key, headers })
    await expect.poll(() => requests().filter(({ operation }) => operation === 'deposit')).toHaveLength(2)
    expect(requests().map(({ idempotency_key }) => idempotency_key)).toEqual([named, named])
    if (named !== key) expect(JSON.stringify(lines)).not.toContain(key)
  }
})

describe('a fault is named, and is no failure of the sandbox', () => {
  const AFTER = ['before_broadcast', 'after_broadcast', 'after_confirmation', 'during_response'] as const
  const DROPS = AFTER.flatMap((phase) => [
    { phase, how: 'reset', ended: 'reset' } as const,
    { phase, how: 'close', ended: 'closed' } as const,
    { phase, how: 'truncate', ended: 'truncated' } as const,
  ])

  test.each(DROPS)(
    'drop_connection, $how at $phase: with the transaction nobody was told of',
    async ({ phase, how, ended }) => {
      const { id } = await fault({ kind: 'drop_connection', phase, match: { operation: 'deposit' }, with: { how } })
      const key = randomUUID()
      await expect(deposit({ key })).rejects.toThrow()
      const line = await onlyLine()
      const { id: transaction_id, tx_hash } = await newest()
      expect(line).toMatchObject({
        ...DEPOSIT,
        idempotency_key: key,
        ended,
        fault: id,
        transaction_id,
        tx_hash,
        status: 200,
      })
      expect(line.fault_explanation).toMatch(new RegExp(`^drop_connection at ${phase}: The connection is`))
    },
  )

  test('drop_connection on_request: nothing happened', async () => {
    const { id } = await fault({ kind: 'drop_connection', phase: 'on_request' })
    await expect(deposit()).rejects.toThrow()
    const line = await onlyLine()
    expect(line).toMatchObject({ ...DEPOSIT, ended: 'reset', fault: id })
    for (const absent of ['status', 'code', 'tx_hash']) expect(line).not.toHaveProperty(absent)
  })

  test('drop_connection, and the chain is away behind its back', async () => {
    await fault({ kind: 'chain_down', phase: 'on_request', match: { operation: 'list_pools' }, with: { for: '1h' } })
    await acme.get('pools')
    await expect.poll(requests).toHaveLength(1)
    lines = []
    const { id } = await fault({ kind: 'drop_connection', phase: 'before_broadcast' })
    await expect(deposit()).rejects.toThrow()
    const expected = { ended: 'reset', fault: id, status: 503, code: 'chain_unavailable' }
    expect(await onlyLine()).toMatchObject({ ...DEPOSIT, ...expected })
  })

  test('of the header', async () => {
    await acme.get('pools', { headers: { 'x-sandbox-fault': 'error; code=rate_limited' } })
    expect(await onlyLine()).toMatchObject({
      ...{ operation: 'list_pools', status: 429, code: 'rate_limited', ended: 'answered', fault: 'header' },
      fault_explanation:
        'error at on_request: The answer is an error when the request comes: 429 rate_limited, Retry-After 1.',
    })
  })

  const ERRORS: [FaultRule, Line][] = [
    [
      { kind: 'error', phase: 'on_request' },
      { status: 500, code: 'internal_error' },
    ],
    [
      { kind: 'error', phase: 'before_broadcast' },
      { status: 500, code: 'internal_error' },
    ],
    [
      { kind: 'error', phase: 'after_broadcast' },
      { status: 500, code: 'internal_error', tx_hash: expect.any(String) },
    ],
    [
      { kind: 'error', phase: 'after_confirmation' },
      { status: 500, code: 'internal_error', tx_hash: expect.any(String) },
    ],
    [
      { kind: 'error', phase: 'during_response' },
      { status: 500, code: 'internal_error', tx_hash: expect.any(String) },
    ],
    [{ kind: 'revert' }, { status: 422, code: 'transaction_reverted', tx_hash: expect.any(String) }],
    [{ kind: 'malformed_body' }, { status: 502, tx_hash: expect.any(String) }],
    [
      { kind: 'chain_down', with: { for: '1h' } },
      { status: 503, code: 'chain_unavailable' },
    ],
    [{ kind: 'bad_signature' }, { status: 401, code: 'invalid_user_token' }],
  ]
  test.each(ERRORS)('%j', async (rule, expected) => {
    const { id, kind } = await fault({ ...rule, match: { operation: 'deposit' } })
    await deposit().catch((error: unknown) => expect(error).toBeInstanceOf(SyntaxError))
    const line = await onlyLine()
    expect(line).toMatchObject({ ...DEPOSIT, ...expected, ended: 'answered', fault: id })
    expect(line.fault_explanation).toMatch(new RegExp(`^${kind} at `))
  })

  test('of the token endpoint', async () => {
    for (const [rule, error] of [
      [{ kind: 'token_endpoint_error', with: { error: 'server_error' } }, 'server_error'],
      [{ kind: 'error', match: { operation: 'token' } }, 'internal_error'],
    ] as const) {
      const { id } = await fault(rule)
      const { client_id, client_secret } = sandbox.tenants[0]!
      const { scope } = await sandbox.credentials()
      const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope })
      expect((await fetch(sandbox.authUrl, { method: 'POST', body })).status).toBe(500)
      const expected = { operation: 'token', tenant: 'acme', status: 500, code: error, fault: id }
      expect(await onlyLine()).toMatchObject({ ...COMMON, ...expected })
      lines = []
    }
  })

  test('hang, until the fault is taken away', async () => {
    const { id } = await fault({ kind: 'hang', match: { operation: 'deposit' } })
    const request = deposit()
    request.catch(() => undefined)
    await expect.poll(async () => (await sandbox.faults.list())[0]?.hits).toBe(1)
    await newest()
    await expect.poll(() => requests().map(({ operation }) => operation)).toEqual(['list_transactions'])
    lines = []
    await sandbox.faults.clear()
    await expect(request).rejects.toThrow()
    expect(await onlyLine()).toMatchObject({ ...DEPOSIT, ended: 'closed', fault: id, status: 200 })
  })
})

test('what nobody asked for is a failure, and is logged with its stack; the end of a chain with its namespace', async () => {
  const open = await openSandbox({ logger: pino({ level: 'info' }, logged) })
  try {
    await open.acme.idpToken()
    vi.spyOn(open.sandbox.namespace.services.service.store, 'find').mockImplementationOnce(() => {
      throw new Error('out of luck')
    })
    lines = []
    const { status, body } = await open.acme.get('pools')
    expect({ status, body }).toMatchObject({ status: 500, body: { detail: 'The sandbox failed; its log says why.' } })
    await expect.poll(requests).toHaveLength(1)
    expect(lines).toMatchObject([
      {
        ...{ level: 50, msg: 'internal_error', namespace: 'default' },
        err: { message: 'out of luck', stack: expect.stringContaining(' at ') },
      },
      { level: 30, status: 500, code: 'internal_error', operation: 'list_pools', request_id: body.request_id },
    ])
    const mine = await open.sandbox.namespaces.get((await open.control.createNamespace()).namespace)
    const [chain] = mine.services.chains.started!.all()
    await chain!.wake()
    process.kill(chain!.pid, 'SIGKILL')
    const ofChains = () => lines.filter(({ msg }) => /the chain/.test(String(msg)))
    await expect.poll(ofChains).not.toEqual([])
    for (const line of ofChains()) expect(line).toMatchObject({ namespace: mine.name, chain_id: chain!.chain_id })
  } finally {
    await open.stop()
  }
})

test('an answer that closes its connection is answered', async () => {
  await fetch(`${sandbox.baseUrl}/v1/partner/pools`, { headers: { connection: 'close' } }).then((answer) =>
    answer.text(),
  )
  const headers = { ...(await goodHeaders(acme)), connection: 'close' }
  const url = `${sandbox.baseUrl}/v1/partner/pools`
  await new Promise((resolve) => request(url, { headers, agent: false }, (r) => r.resume().on('end', resolve)).end())
  await expect.poll(requests).toHaveLength(2)
  expect(requests().map(({ ended }) => ended)).toEqual(['answered', 'answered'])
})

describe('a client that goes away', () => {
  test('in the middle of a deposit: one line when the deposit is done', async () => {
    await sandbox.faults.add({ kind: 'slow_confirmation', with: { delay: '10h' } })
    const patience = new AbortController()
    const { request: given } = await mined(sandbox, () => deposit({ signal: patience.signal }))
    lines = []
    patience.abort()
    await expect(given).rejects.toThrow('abort')
    await sandbox.clock.advance(36_000_000)
    const line = await onlyLine()
    const { tx_hash } = await newest()
    expect(line).toMatchObject({
      ...DEPOSIT,
      ended: 'connection lost',
      status: 200,
      tx_hash,
      fault: expect.any(String),
    })
  })

  test('with the chain down meanwhile: that is said once, without a stack', async () => {
    await sandbox.faults.add({ kind: 'chain_down', phase: 'after_broadcast', with: { for: '1h' } })
    const request = deposit()
    await expect
      .poll(() => lines.filter(({ level }) => level === 40))
      .toMatchObject([
        { msg: 'a confirmed transfer waits for the chain', reason: expect.stringContaining('paused by a fault') },
      ])
    await sandbox.clock.advance(3_600_000)
    expect((await request).status).toBe(200)
    await expect.poll(requests).toHaveLength(1)
    expect(lines).toHaveLength(2)
    expect(JSON.stringify(lines)).not.toContain('stack')
  })

  test('in the middle of an answer that trickles: that is no failure', async () => {
    const { id } = await fault({ kind: 'latency', match: { operation: 'list_pools' }, with: { bytes_per_second: 10 } })
    const headers = await goodHeaders(acme)
    const outgoing = request(`${sandbox.baseUrl}/v1/partner/pools`, { headers, agent: false })
    outgoing.on('error', () => undefined)
    await new Promise<void>((resolve) => {
      outgoing.on('response', (incoming) => {
        incoming.on('error', () => undefined)
        incoming.once('data', () => {
          outgoing.destroy()
          resolve()
        })
      })
      outgoing.end()
    })
    expect(await onlyLine()).toMatchObject({
      operation: 'list_pools',
      status: 200,
      ended: 'connection lost',
      fault: id,
    })
    // Whatever else there is to say would have been said by now.
    await (await fetch(`${sandbox.controlUrl}/clock`)).arrayBuffer()
    await expect.poll(requests).toHaveLength(2)
    expect(lines).toHaveLength(2)
  })

  test('before an answer that trickles begins: that is no failure either', async () => {
    await fault({ kind: 'latency', match: { operation: 'deposit' }, with: { bytes_per_second: 1 } })
    await sandbox.clock.freeze()
    const headers = await goodHeaders(acme, 'dan')
    const url = `${sandbox.baseUrl}/v1/partner/end_users/dan/deposit`
    const outgoing = request(url, { method: 'POST', headers, agent: false })
    outgoing.on('error', () => undefined).end(JSON.stringify({ portfolio_id: portfolio, amount_minor: '1000' }))
    await expect.poll(async () => (await sandbox.faults.list())[0]?.hits).toBe(1)
    await (await fetch(`${sandbox.controlUrl}/clock`)).arrayBuffer()
    await expect.poll(requests).toHaveLength(1)
    outgoing.destroy()
    await expect.poll(requests).toHaveLength(2)
    await (await fetch(`${sandbox.controlUrl}/clock`)).arrayBuffer()
    await expect.poll(requests).toHaveLength(3)
    expect(lines).toMatchObject([{}, { ...DEPOSIT, ended: 'connection lost', status: 200 }, {}])
    await sandbox.clock.unfreeze()
  })

  test('before its body is out', async () => {
    const headers = { ...(await goodHeaders(acme, 'dan')), 'content-length': '1000' }
    const outgoing = request(`${sandbox.baseUrl}/v1/partner/end_users/dan/deposit`, {
      method: 'POST',
      headers,
      agent: false,
    })
    outgoing.on('error', () => undefined)
    await new Promise<void>((resolve) => outgoing.write('{', () => resolve()))
    await (await fetch(`${sandbox.controlUrl}/clock`)).arrayBuffer()
    lines = []
    outgoing.destroy()
    expect(await onlyLine()).toMatchObject({ ...DEPOSIT, ended: 'connection lost' })
  })

  test('with requests in its pipeline: each has its line, and nobody is warned of listeners', async () => {
    const warnings: string[] = []
    const warn = ({ message }: Error) => warnings.push(message)
    process.on('warning', warn)
    await sandbox.faults.add({ kind: 'latency', phase: 'on_request', times: 'always', with: { delay: '10h' } })
    const { authorization } = await goodHeaders(acme)
    const { hostname, port } = new URL(sandbox.baseUrl)
    const socket = connect(Number(port), hostname)
    socket.write(`GET /v1/partner/pools HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`.repeat(20))
    await expect.poll(async () => (await sandbox.faults.list())[0]?.hits).toBe(20)
    socket.destroy()
    await expect.poll(requests).toHaveLength(20)
    process.off('warning', warn)
    for (const line of lines) expect(line).toMatchObject({ operation: 'list_pools', ended: 'connection lost' })
    expect(warnings).toEqual([])
  })
})
