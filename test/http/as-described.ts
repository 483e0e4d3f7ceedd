import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { anvilsOf } from '../helpers/anvils.ts'
import { mined } from '../helpers/confirmation.ts'
import { eventually } from '../helpers/eventually.ts'
import { writeFixture } from '../helpers/fixture-file.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { DescribedAnswers, type DescribedOperation, type OpenApiDocument } from './described-answers.ts'
import { type RawAnswer, type RawRequest, send, sendBytes } from './raw-http.ts'

const CONTROL_TOKEN = 'secret'
/** A namespace that everything is asked of that is asked of the sandbox itself. */
const TWIN = 'twin'
const CONTROL = { authorization: `Bearer ${CONTROL_TOKEN}` }
const JSON_TYPE = { 'content-type': 'application/json' }
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }

const SERVICE = [
  'list_pools',
  'create_end_user',
  'create_portfolio',
  'list_portfolios',
  'deposit',
  'withdraw',
  'list_transactions',
] as const
const KEYED = ['create_end_user', 'create_portfolio', 'deposit', 'withdraw'] as const
const TOKENS = ['token', 'tenant_token'] as const
const TENANT_METADATA = ['get_tenant_openid_configuration', 'get_tenant_authorization_server'] as const

let sandbox: SandboxHandle
let twin: SandboxHandle
let acme: Partner
let answers: DescribedAnswers
let portfolio: string
let form: string
let pool: Record<string, string>
/** True if whatever is asked of the sandbox is asked of a namespace as well. */
let twice = true

function operationOf(id: string): { target: string; method: string; operation: DescribedOperation } {
  const found = answers.operations().find(({ operation }) => operation.operationId === id)
  if (!found) throw new Error(`${id} is not described`)
  return found
}

/** A request that is recorded. */
async function newestRequest({ requests }: SandboxHandle): Promise<{ request_id: string; number: number }> {
  return (await requests.list({ limit: 1 })).data[0] ?? { request_id: 'none', number: 0 }
}

/** Hash of a transaction on chain, or of none while there is no answer. */
async function newestTransaction(id: string): Promise<string> {
  const prefix = id.startsWith('namespace_') ? `/_sandbox/namespaces/${TWIN}` : '/_sandbox'
  const response = await fetch(new URL(`${prefix}/transactions?limit=1`, sandbox.baseUrl), { headers: CONTROL })
  const { transactions = [] } = (await response.json()) as { transactions?: { tx_hash: string }[] }
  return transactions[0]?.tx_hash ?? NO_HASH
}

const NO_HASH = `0x${'5'.repeat(64)}`

/** A good request of every operation; those that need more than this have it from their test. */
async function good(id: string): Promise<RawRequest & { headers: Record<string, string> }> {
  const { target, method, operation } = operationOf(id)
  const named: Record<string, string> = {
    '{external_id}': 'alice',
    '{tenant_id}': sandbox.tenants[0]!.tenant_id,
    '{chain_id}': '31337',
    '{slug}': 'acme',
    '{name}': 'dropped-deposit',
    '{namespace}': TWIN,
  }
  if (/\{(request_id|number)\}/.test(target)) {
    const { request_id, number } = await newestRequest(id.startsWith('namespace_') ? twin : sandbox)
    Object.assign(named, { '{request_id}': request_id, '{number}': String(number) })
  }
  if (target.includes('{tx_hash}')) named['{tx_hash}'] = await newestTransaction(id)
  const filled = target.replace(/\{\w+\}/g, (name) => named[name] ?? 'nothing')
  const bodies: Record<string, unknown> = {
    ...(id === 'create_end_user' && { create_end_user: await newcomer() }),
    create_portfolio: pool,
    deposit: { portfolio_id: portfolio, amount_minor: '1000' },
    withdraw: { portfolio_id: portfolio, amount_minor: '10' },
    json_rpc: { jsonrpc: '2.0', id: 1, method: 'eth_chainId' },
    namespace_json_rpc: { jsonrpc: '2.0', id: 1, method: 'eth_chainId' },
    create_namespace: { name: 'another' },
    move_clock: { advance: '1s' },
    add_faults: { kind: 'error', match: { external_id: 'nobody', operation: 'deposit' } },
    start_own_scenario: { name: 'mine', description: 'Nothing happens.' },
    mint_user_token: { external_id: 'alice' },
    mint_idp_token: {},
    begin_session: { token: CONTROL_TOKEN },
    put_public_url: { public_url: new URL(sandbox.baseUrl).origin },
    create_guest: { pid: process.pid },
    conclude: { end: 'well' },
    mcp: { jsonrpc: '2.0', id: 1, method: 'ping' },
  }
  const body = TOKENS.includes(id as 'token') ? form : JSON.stringify(bodies[id.replace(/^namespace_/, '')])
  const needs = (scheme: string) => operation.security.some((alternative) => scheme in alternative)
  return {
    method: method.toUpperCase(),
    path: filled,
    headers: {
      host: new URL(sandbox.baseUrl).host,
      ...(needs('idp_token') && { authorization: `Bearer ${await acme.idpToken()}` }),
      ...(needs('user_token') && { 'x-user-token': await acme.userToken('alice') }),
      ...(needs('control_token') && CONTROL),
      ...(KEYED.includes(id as 'deposit') && { 'idempotency-key': randomUUID() }),
      ...(body !== undefined && (body === form ? FORM_TYPE : JSON_TYPE)),
    },
    ...(body !== undefined && { body }),
  }
}

async function newcomer() {
  const external_id = `new-${randomUUID()}`
  return { external_id, user_jwt: await acme.userToken(external_id) }
}

type Otherwise = Omit<RawRequest, 'headers' | 'path'> & {
  path?: string
  headers?: RawRequest['headers']
  query?: string
}

/** Sends a good request with something changed about it, and holds the answer to the description; the same to the namespace. */
async function call(id: string, otherwise: Otherwise = {}): Promise<RawAnswer> {
  const answer = await callOne(id, otherwise)
  const twin = `namespace_${id}`
  if (twice && everyOperation().some(({ operationId }) => operationId === twin)) {
    const path = otherwise.path?.replace(/^\/_sandbox/, `$&/namespaces/${TWIN}`).replace(/^\/rpc/, `$&/${TWIN}`)
    await callOne(twin, { ...otherwise, ...(path !== undefined && { path }) })
  }
  return answer
}

async function callOne(id: string, otherwise: Otherwise): Promise<RawAnswer> {
  const { query = '', ...changed } = otherwise
  const request = await good(id)
  const headers = { ...request.headers, ...otherwise.headers }
  const sent = {
    ...request,
    ...changed,
    headers: Object.fromEntries(Object.entries(headers).filter(([, v]) => v !== '')),
  }
  const answer = await send(sandbox.baseUrl, { ...sent, path: `${sent.path}${query}` })
  expect(answers.objections(id, answer)).toEqual([])
  return answer
}

const json = (body: unknown) => ({ body: JSON.stringify(body) })
const struck = (fault: string) => ({ 'x-sandbox-fault': fault, 'x-sandbox-control-token': CONTROL_TOKEN })
const statusOf = async (id: string, otherwise?: Otherwise) => (await call(id, otherwise)).status
/** Of this operation alone: for whoever goes through all of them, those of a namespace among them. */
const statusOfOne = async (id: string, otherwise: Otherwise) => (await callOne(id, otherwise)).status

const GOOD: [id: string, status: number][] = [
  ['list_pools', 200],
  ['create_end_user', 201],
  ['create_portfolio', 201],
  ['list_portfolios', 200],
  ['deposit', 200],
  ['withdraw', 200],
  ['list_transactions', 200],
  ['token', 200],
  ['tenant_token', 200],
  ['get_jwks', 200],
  ['get_openid_configuration', 200],
  ['get_authorization_server', 200],
  ['get_tenant_openid_configuration', 200],
  ['get_tenant_authorization_server', 200],
  ['json_rpc', 200],
  ['get_health', 200],
  ['get_readiness', 200],
  ['get_credentials', 200],
  ['list_fidelity', 200],
  ['list_assumptions', 200],
  ['get_audit', 200],
  ['put_public_url', 200],
  ['create_guest', 201],
  ['conclude', 200],
  ['get_audited_money', 200],
  ['mcp', 200],
  ['next_request', 200],
  ['create_snapshot', 200],
  ['get_report', 200],
  ['get_money', 200],
  ['list_chain_transactions', 200],
  ['get_chain_transaction', 200],
  ['get_clock', 200],
  ['move_clock', 200],
  ['add_faults', 201],
  ['list_faults', 200],
  ['list_fault_kinds', 200],
  ['clear_faults', 204],
  ['start_scenario', 201],
  ['list_scenarios', 200],
  ['stop_scenario', 200],
  ['start_own_scenario', 201],
  ['stop_scenario', 200],
  ['mint_user_token', 201],
  ['mint_idp_token', 201],
  ['list_requests', 200],
  ['list_operations', 200],
  ['get_operation', 200],
  ['get_request', 200],
  ['clear_requests', 204],
  ['clear_jwks_cache', 204],
  ['list_namespaces', 200],
  ['get_usage', 200],
  ['get_metrics', 200],
  ['get_namespace', 200],
  ['create_namespace', 201],
  ['begin_session', 204],
  ['end_session', 204],
]

/** Every operation that the document has, once it is there; those of a namespace only if they are asked as well. */
const everyOperation = () =>
  answers
    .operations()
    .map(({ operation }) => operation)
    .filter(({ operationId }) => twice || !operationId.startsWith('namespace_'))

/** Described, and not seen here: why. */
const NOT_SEEN: [pattern: RegExp, why: string][] = [
  [/ 408$/, 'takes a minute of real time'],
  [/^(namespace_)?json_rpc 429$/, 'needs a quota'],
  [/^next_request 404$/, 'needs a sandbox that records nothing'],
  [
    /^(?!(.*token|list_(pools|portfolios|transactions)|create_(end_user|portfolio)|deposit|withdraw) ).* 500$/,
    'no fault strikes it',
  ],
  [/^(namespace_)?mint_.* 500$/, 'no fault strikes it'],
  [
    /^namespace_get_(report|money) 503$|^namespace_list_chain_transactions 503$/,
    'needs a namespace that is in the making',
  ],
  [
    /^(namespace_)?(create_snapshot|create_guest|conclude|get_audited_money|next_request) 503$/,
    'needs a namespace that is in the making',
  ],
  [/^(create|delete)_namespace 503$/, 'needs a chain that never comes, or one that is in the making'],
  [
    /^(namespace_)?(move_clock|start_scenario|start_own_scenario|reset|clear_faults|remove_fault|stop_scenario) 503$/,
    'needs a full disk, or a chain that does not come back for a while',
  ],
]

/**
 * Holds every answer of a sandbox of this profile to its own description. `bothPlaces`: whatever a namespace answers at an address of its
 * own, too, not good requests alone.
 */
export function asDescribed(profile: 'specification' | 'live-like', { bothPlaces }: { bothPlaces: boolean }): void {
  describe(`of the profile ${profile}`, () => {
    let directory: string
    let fixtures: string
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-described-'))
      fixtures = await writeFixture(directory, (fixture) => {
        fixture.service = { profile, idempotency_in_flight: 'conflict' }
      })
      sandbox = await testSandbox({ fixtures, controlToken: CONTROL_TOKEN })
      twin = await sandbox.namespaces.create({ name: TWIN })
      acme = new Partner(sandbox)
      answers = new DescribedAnswers(
        (await (await fetch(new URL('/openapi.json', sandbox.baseUrl))).json()) as OpenApiDocument,
      )
      portfolio = await acme.open('alice')
      await acme.deposit('alice', portfolio, '5000000')
      await sandbox.clock.advance(86_400_000)
      await acme.deposit('alice', portfolio, '5000000')
      pool = await acme.portfolioBody('aave-usdc')
      await new Partner(twin).get('pools')
      const { client_id, client_secret } = sandbox.tenants[0]!
      const { scope } = await sandbox.credentials()
      form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope }).toString()
    })
    afterAll(() => Promise.all([sandbox.stop(), rm(directory, { recursive: true })]))

    describe('good requests', () => {
      beforeAll(() => {
        twice = true
      })
      afterAll(() => {
        twice = bothPlaces
      })
      test.each(GOOD)('%s: %i, as described', async (id, status) => {
        expect(await statusOf(id)).toBe(status)
      })

      test('remove_fault: 204, as described', async () => {
        const [fault] = JSON.parse((await call('add_faults')).text)
        expect(await statusOf('remove_fault', { path: `/_sandbox/faults/${fault.id}` })).toBe(204)
      })

      test('transactions of every type there is', async () => {
        const { data } = JSON.parse((await call('list_transactions')).text)
        const types = ['deposit', 'withdrawal', ...(profile === 'live-like' ? ['yield_harvest'] : [])]
        expect(new Set(data.map(({ type }: { type: string }) => type))).toEqual(new Set(types))
      })

      test('a preview of faults', async () => {
        expect(await statusOf('add_faults', { query: '?preview=1' })).toBe(200)
      })

      test('pages with cursors, both ways', async () => {
        const { next_cursor } = JSON.parse((await call('list_pools', { query: '?limit=1' })).text)
        const second = JSON.parse((await call('list_pools', { query: `?limit=1&starting_after=${next_cursor}` })).text)
        expect(await statusOf('list_pools', { query: `?limit=1&ending_before=${second.prev_cursor}` })).toBe(200)
      })

      test('requests that are recorded: filtered, as an archive, and from a cursor on', async () => {
        const sent = await Promise.all([acme, new Partner(twin)].map((partner) => partner.get('pools')))
        expect(sent.map(({ status }) => status)).toEqual([200, 200])
        expect(await statusOf('list_requests', { query: '?operation=list_pools&status=2xx&connection=1' })).toBe(200)
        expect(await statusOf('list_requests', { query: '?format=har' })).toBe(200)
        expect(await statusOf('get_request', { query: '?format=har' })).toBe(200)
        await acme.get('pools')
        const { next_cursor } = JSON.parse((await callOne('list_requests', { query: '?limit=1' })).text)
        const query = `?starting_after=${next_cursor}`
        expect((await callOne('list_requests', { query })).status).toBe(200)
        await call('clear_requests')
        expect(await statusOf('list_requests', { query })).toBe(410)
        expect(await statusOf('list_requests', { query: '?starting_after=nothing' })).toBe(400)
      })

      test('batches and notifications of JSON-RPC, and errors in its own words', async () => {
        const one = { jsonrpc: '2.0', id: 1, method: 'eth_chainId' }
        const { id: _, ...notification } = one
        expect(await statusOf('json_rpc', json([one, one]))).toBe(200)
        expect(await statusOf('json_rpc', json({ ...one, method: 'nothing' }))).toBe(200)
        expect(await statusOf('json_rpc', json({}))).toBe(200)
        expect(await statusOf('json_rpc', json(notification))).toBe(204)
      })

      test.each(KEYED)('%s: a replay says so', async (id) => {
        const headers = { 'idempotency-key': randomUUID() }
        const { body } = await good(id)
        const replays = [
          await call(id, { headers, ...(body !== undefined && { body }) }),
          await call(id, { headers, ...(body !== undefined && { body }) }),
        ].map((answer) => answer.headers['idempotency-key-replay'])
        expect(replays).toEqual(['false', 'true'])
      })

      test('a replayed error has the request_id of the first', async () => {
        const headers = { 'idempotency-key': randomUUID() }
        const body = json({ portfolio_id: portfolio, amount_minor: '9'.repeat(30) })
        const [first, second] = [
          await call('deposit', { headers, ...body }),
          await call('deposit', { headers, ...body }),
        ]
        expect(second.text).toBe(first.text)
        expect(JSON.parse(second.text).request_id).toBe(first.headers['x-service-request-id'])
        expect(second.headers['idempotency-key-replay']).toBe('true')
      })
    })

    describe('bad requests', () => {
      test('a path and query that is too long: 414', async () => {
        for (const { operationId } of everyOperation()) {
          expect(await statusOfOne(operationId, { query: `?${'x'.repeat(9000)}` })).toBe(414)
        }
      })

      test('a transfer coding that nobody knows: 501', async () => {
        for (const { operationId } of everyOperation()) {
          expect(await statusOfOne(operationId, { headers: { 'transfer-encoding': 'gzip, chunked' } })).toBe(501)
        }
      })

      test('a header that may come once, twice: 400', async () => {
        for (const { operationId } of everyOperation()) {
          const headers = { authorization: ['Bearer a', 'Bearer b'] }
          expect(await statusOfOne(operationId, { headers })).toBe(400)
        }
      })

      test('what is no HTTP: 400, and headers that are too long: 431', async () => {
        for (const { operationId } of everyOperation()) {
          const { method, path } = await good(operationId)
          const broken = await sendBytes(sandbox.baseUrl, `${method} ${path} HTTP/1.1\r\nno header\r\n\r\n`)
          const long = await sendBytes(
            sandbox.baseUrl,
            `${method} ${path} HTTP/1.1\r\nX-Long: ${'x'.repeat(17_000)}\r\n\r\n`,
          )
          expect([broken, long].flatMap((answer) => answers.objections(operationId, answer))).toEqual([])
          expect([broken.status, long.status]).toEqual([400, 431])
        }
      })

      test('bodies that are too long, of another type, coded, or no JSON: 413, 415, 400', async () => {
        const withBody = everyOperation().filter(({ requestBody }) => requestBody !== undefined)
        expect(withBody.length).toBeGreaterThan(10)
        for (const { operationId } of withBody) {
          const size = operationId.endsWith('json_rpc') ? 11 : operationId === 'create_namespace' ? 67 : 1
          const long = `"${'x'.repeat(size * 1024 * 1024)}"`
          expect(await statusOfOne(operationId, { body: long })).toBe(413)
          expect(await statusOfOne(operationId, { headers: { 'content-encoding': 'gzip' } })).toBe(415)
          const inOAuth = TOKENS.includes(operationId as 'token')
          expect(await statusOfOne(operationId, { headers: { 'content-type': 'text/plain' } })).toBe(
            inOAuth ? 400 : 415,
          )
          expect(await statusOfOne(operationId, { body: '{' })).toBe(
            operationId.endsWith('json_rpc') ? 200 : inOAuth ? 401 : 400,
          )
        }
      })

      test('control requests without the token, or from another origin: 401, 403', async () => {
        const guarded = everyOperation().filter(({ security }) => security.some((scheme) => 'control_token' in scheme))
        expect(guarded.length).toBeGreaterThan(15)
        const open = ['json_rpc', 'namespace_json_rpc', 'begin_session', 'end_session'].map((operationId) => ({
          operationId,
        }))
        for (const { operationId } of [...guarded, ...open]) {
          expect(await statusOfOne(operationId, { headers: { origin: 'https://acme.example' } })).toBe(403)
          if (!open.some((one) => one.operationId === operationId))
            expect(await statusOfOne(operationId, { headers: { authorization: '' } })).toBe(401)
        }
      })

      test.each(SERVICE)('%s: without token, with another one, without access, with bad parameters', async (id) => {
        const restricted = new Partner(sandbox, 'restricted')
        const foreign = await sandbox.userToken('alice', { tenant: 'globex' })
        expect(await statusOf(id, { headers: { authorization: '' } })).toBe(401)
        expect(await statusOf(id, { headers: { authorization: 'Bearer x' } })).toBe(401)
        const authorization = `Bearer ${await restricted.idpToken()}`
        expect(await statusOf(id, { headers: { authorization } })).toBe(id === 'list_pools' ? 200 : 403)
        expect(await statusOf(id, { headers: struck('insufficient_role') })).toBe(403)
        if (operationOf(id).operation.security[0]!.user_token) {
          expect(await statusOf(id, { headers: { 'x-user-token': 'x' } })).toBe(401)
          expect(await statusOf(id, { headers: { 'x-user-token': foreign } })).toBe(401)
          expect(await statusOf(id, { headers: { 'x-user-token': await acme.userToken('bob') } })).toBe(403)
          const path = (await good(id)).path.replace('alice', 'ghost')
          expect(await statusOf(id, { path, headers: { 'x-user-token': await acme.userToken('ghost') } })).toBe(404)
        }
        if (operationOf(id).method === 'post') expect(await statusOf(id, json({}))).toBe(400)
        else {
          expect(await statusOf(id, { query: '?limit=0' })).toBe(400)
          expect(await statusOf(id, { query: '?starting_after=a&ending_before=b' })).toBe(400)
          expect(await statusOf(id, { query: '?starting_after=a' })).toBe(400)
          expect(await statusOf(id, { query: '?starting_after=a', headers: struck('expired_cursor') })).toBe(410)
        }
      })

      test.each(KEYED)('%s: a key that is missing, no UUID, used with another body, or busy', async (id) => {
        const missing = id === 'create_end_user' && profile === 'specification' ? 201 : 400
        expect(await statusOf(id, { headers: { 'idempotency-key': '' } })).toBe(missing)
        expect(await statusOf(id, { headers: { 'idempotency-key': 'x' } })).toBe(400)
        const headers = { 'idempotency-key': randomUUID() }
        await call(id, { headers })
        const other = { ...JSON.parse((await good(id)).body as string), more: 1 }
        expect(await statusOf(id, { headers, ...json(other) })).toBe(422)
        expect(await statusOf(id, { headers: struck('error; code=idempotency_key_in_progress') })).toBe(409)
      })

      test.each(['deposit', 'withdraw'])('%s: a key whose first request still runs: 409', async (id) => {
        sandbox.faults.add({ kind: 'slow_confirmation', match: { operation: id as 'deposit' }, with: { delay: '1m' } })
        const headers = { 'idempotency-key': randomUUID() }
        sandbox.clock.freeze()
        const { request } = await mined(sandbox, () => call(id, { headers }))
        expect(await statusOf(id, { headers })).toBe(409)
        sandbox.clock.advance(60_000)
        sandbox.clock.unfreeze()
        expect((await request).status).toBe(200)
      })

      test('what no pool, no portfolio and no balance is there for', async () => {
        const another = { ...pool, market_address: pool.token_address }
        expect(await statusOf('create_portfolio', json(another))).toBe(422)
        for (const id of ['deposit', 'withdraw']) {
          expect(await statusOf(id, json({ portfolio_id: 'jar_x', amount_minor: '1' }))).toBe(404)
          expect(await statusOf(id, json({ portfolio_id: portfolio, amount_minor: '0' }))).toBe(400)
          expect(await statusOf(id, json({ portfolio_id: portfolio, amount_minor: '9'.repeat(40) }))).toBe(422)
          expect(await statusOf(id, { headers: struck('revert') })).toBe(422)
        }
      })

      test.each(TOKENS)('%s: forms that are refused', async (id) => {
        expect(await statusOf(id, { body: '' })).toBe(401)
        expect(await statusOf(id, { body: form.replace('client_credentials', 'password') })).toBe(400)
        expect(await statusOf(id, { body: `${form}&scope=again` })).toBe(400)
        const without = form.replace(encodeURIComponent('api://'), '')
        expect(await statusOf(id, { body: without })).toBe(profile === 'live-like' ? 200 : 400)
        const authorization = `Basic ${Buffer.from('a:b').toString('base64')}`
        expect(
          (await call(id, { body: 'grant_type=client_credentials', headers: { authorization } })).headers,
        ).toHaveProperty('www-authenticate')
      })

      test('a report in every form, and in one that is none: 400', async () => {
        for (const form of ['json', 'junit', 'sarif', 'html', 'markdown', 'text']) {
          expect(await statusOf('get_report', { query: `?format=${form}` })).toBe(200)
        }
        expect(await statusOf('get_report', { query: '?format=pdf' })).toBe(400)
      })

      test('events for a client that does not stream, and for a wrong one: 400', async () => {
        expect(await statusOf('get_events', { query: '?poll=1' })).toBe(200)
        expect(await statusOf('get_events', { query: '?poll=1&last_event_id=none' })).toBe(200)
        expect(await statusOf('get_events', { query: '?poll=2' })).toBe(400)
        expect(await statusOf('list_operations', { query: '?limit=1001' })).toBe(400)
      })

      test('control requests for what is not there, or not possible: 404, 400, 409', async () => {
        expect(await statusOf('remove_fault')).toBe(404)
        expect(await statusOf('get_request', { path: '/_sandbox/requests/none' })).toBe(404)
        expect(await statusOf('next_request', { query: '?after=none' })).toBe(410)
        expect(await statusOf('mcp', json({ jsonrpc: '2.0', method: 'notifications/initialized' }))).toBe(202)
        expect(await statusOf('get_chain_transaction', { path: `/_sandbox/transactions/${NO_HASH}` })).toBe(404)
        expect(await statusOf('get_chain_transaction', { path: '/_sandbox/transactions/0x5' })).toBe(400)
        expect(await statusOf('list_chain_transactions', { query: '?chain_id=1' })).toBe(400)
        expect(await statusOf('get_operation', { path: '/_sandbox/operations/0' })).toBe(404)
        for (const id of TENANT_METADATA) {
          const path = (await good(id)).path.replace(sandbox.tenants[0]!.tenant_id, 'nobody')
          expect(await statusOf(id, { path })).toBe(404)
        }
        expect(await statusOf('json_rpc', { path: '/rpc/1' })).toBe(404)
        expect(await statusOf('start_scenario', { path: '/_sandbox/scenarios/none/start' })).toBe(404)
        for (const id of ['mint_user_token', 'mint_idp_token']) {
          const path = (await good(id)).path.replace('acme', 'nobody')
          expect(await statusOf(id, { path })).toBe(404)
          expect(await statusOf(id, json({ key: 1 }))).toBe(400)
        }
        expect(await statusOf('move_clock', json({ set: '2020-01-01' }))).toBe(400)
        expect(await statusOf('add_faults', json({ kind: 'nothing' }))).toBe(400)
        expect(await statusOf('start_own_scenario', json({ name: 'A B' }))).toBe(400)
        await call('start_scenario')
        expect(await statusOf('start_scenario')).toBe(409)
        expect(await statusOf('start_own_scenario')).toBe(409)
        expect(await statusOf('list_scenarios')).toBe(200)
        expect(await statusOf('stop_scenario')).toBe(200)
      })

      test('namespaces: of a name that is taken, malformed or unknown, and more than there may be: 409, 400, 404', async () => {
        expect(await statusOf('create_namespace', json({ name: TWIN }))).toBe(409)
        expect(await statusOf('create_namespace', json({ name: 'A B' }))).toBe(400)
        expect(await statusOf('create_namespace', json({ from: 'nobody' }))).toBe(404)
        expect(await statusOf('get_namespace', { path: '/_sandbox/namespaces/nobody' })).toBe(404)
        expect(await statusOf('delete_namespace', { path: '/_sandbox/namespaces/nobody' })).toBe(404)
        expect(await statusOf('delete_namespace', { path: '/_sandbox/namespaces/default' })).toBe(400)
        expect(await statusOf('delete_namespace', { path: '/_sandbox/namespaces/another' })).toBe(204)
        for (const { operationId: id } of answers.operations().map(({ operation }) => operation)) {
          if (!id.startsWith('namespace_')) continue
          const { path } = await good(id)
          expect((await callOne(id, { path: path.replace(TWIN, 'nobody') })).status).toBe(404)
        }
      })

      test('a session that begins with a wrong code: 401', async () => {
        expect(await statusOf('begin_session', json({ code: 'x' }))).toBe(401)
      })

      test('other methods, and paths beside those described, are 404 or 405', async () => {
        const described = new Set(answers.operations().map(({ target, method }) => `${method} ${target}`))
        for (const path of new Set(answers.operations().map((one) => one.target))) {
          for (const method of ['get', 'post', 'put', 'patch', 'delete', 'options']) {
            if (described.has(`${method} ${path}`)) continue
            const target = path.replace(/\{\w+\}/g, 'alice')
            const { status } = await send(sandbox.baseUrl, {
              method: method.toUpperCase(),
              path: target,
              headers: CONTROL,
            })
            expect(`${method} ${path} ${status}`).toMatch(/ 40[45]$/)
          }
        }
      })
    })

    describe('faults', () => {
      test.each([...SERVICE, ...TOKENS])(
        '%s: 429, 500, 502, 503 and 504, and a page that is not described',
        async (id) => {
          for (const status of [429, 500, 502, 503, 504]) {
            expect(await statusOf(id, { headers: struck(`error; status=${status}`) })).toBe(status)
            const late = `error; status=${status}; phase=during_response; retry_after=7`
            expect((await call(id, { headers: struck(late) })).headers['retry-after']).toBe('7')
          }
          // Not the service's own: described, it would make every client generator's type of an error a text.
          const { path, ...request } = await good(id)
          const page = await send(sandbox.baseUrl, {
            ...request,
            path,
            headers: { ...request.headers, ...struck('malformed_body') },
          })
          expect(answers.objections(id, page)).toEqual([`${id} 502: the content type text/html is not described`])
          expect(await statusOf(id, { headers: { 'x-sandbox-fault': 'hang' } })).toBe(401)
          expect(await statusOf(id, { headers: struck('no such fault') })).toBe(400)
        },
      )

      test.each(SERVICE)('%s: the end of the version is announced', async (id) => {
        const { headers } = await call(id, { headers: struck('deprecation; link=https://acme.example/v2') })
        expect(headers).toMatchObject({
          deprecation: expect.anything(),
          sunset: expect.anything(),
          link: expect.anything(),
        })
      })

      test.each(['deposit', 'withdraw'])('%s: errors while the transaction is under way', async (id) => {
        for (const phase of ['before_broadcast', 'after_broadcast', 'after_confirmation']) {
          expect(await statusOf(id, { headers: struck(`error; status=502; phase=${phase}`) })).toBe(502)
        }
      })

      test.each([...SERVICE, ...TOKENS])('%s: a connection that breaks gives no answer at all', async (id) => {
        for (const how of ['reset', 'close', 'truncate']) {
          await expect(call(id, { headers: struck(`drop_connection; how=${how}`) })).rejects.toThrow(
            /socket|ECONNRESET|aborted/,
          )
        }
      })

      test.each(TOKENS)('%s: every error of an identity provider', async (id) => {
        for (const error of ['invalid_client', 'invalid_grant', 'unauthorized_client', 'temporarily_unavailable']) {
          const { status, text } = await call(id, { headers: struck(`token_endpoint_error; error=${error}`) })
          expect([error, status >= 400, JSON.parse(text).error]).toEqual([error, true, error])
        }
      })

      test('a chain that is away: 503', async () => {
        for (const one of [sandbox, twin]) await one.faults.add({ kind: 'chain_down', with: { for: '1h' } })
        await new Partner(twin).get('pools') // a fault strikes requests
        const needy = ['get_audit', 'json_rpc', 'get_chain_transaction']
        for (const id of ['list_portfolios', ...needy, ...needy.map((one) => `namespace_${one}`)]) {
          expect(`${id} ${await statusOf(id)}`).toBe(`${id} 503`)
        }
        for (const one of [sandbox, twin]) await one.faults.clear()
        await call('clear_faults')
        await expect.poll(() => statusOf('get_audit')).toBe(200)
      })
    })

    test('before it is ready: 503', async () => {
      const ready = sandbox
      const others = new Set(anvilsOf(process.pid))
      const starting = await Sandbox.listen({ port: 0, seed: 7, controlToken: CONTROL_TOKEN, fixtures })
      let anvil: number | undefined
      try {
        // While its Anvil stands still, it is not ready, however fast it starts and however slowly it is asked.
        anvil = await eventually(() => {
          const found = anvilsOf(process.pid).find((pid) => !others.has(pid))
          if (found === undefined) throw new Error('no Anvil yet')
          return found
        }, 1)
        process.kill(anvil, 'SIGSTOP')
        sandbox = Object.assign(Object.create(ready), { baseUrl: starting.baseUrl })
        for (const id of [
          ...SERVICE,
          ...TOKENS,
          ...TENANT_METADATA,
          'get_readiness',
          'get_audit',
          'get_report',
          'get_money',
          'list_chain_transactions',
          'json_rpc',
        ]) {
          expect(`${id} ${await statusOf(id)}`).toBe(`${id} 503`)
        }
      } finally {
        sandbox = ready
        if (anvil !== undefined) process.kill(anvil, 'SIGCONT')
        await starting.stop()
      }
    })

    test('reset and stop', async () => {
      expect(await statusOf('reset')).toBe(200)
      expect(await statusOf('stop')).toBe(202)
    })

    test('every status that is described was seen, but for those that cannot be', () => {
      const described = everyOperation().flatMap(({ operationId, responses }) =>
        Object.keys(responses).map((status) => `${operationId} ${status}`),
      )
      const excused = (one: string) => NOT_SEEN.some(([pattern]) => pattern.test(one))
      expect(described.filter((one) => !answers.seen.has(one) && !excused(one))).toEqual([])
      expect([...answers.seen].filter(excused)).toEqual([])
      expect(described.length).toBeGreaterThan(bothPlaces ? 500 : 300)
    })
  })
}
