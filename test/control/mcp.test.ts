import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { McpServer } from '../../src/control/mcp/mcp-server.ts'
import { mcpTools } from '../../src/control/mcp/mcp-tools.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { exploring } from '../explore/exploring.ts'
import { partnerAt, testNamespace, testSandbox } from '../helpers/partner.ts'

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testNamespace()
})
afterAll(() => sandbox.stop())

/** Text and data that a tool gives back. */
async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const result = await client.callTool({ name, arguments: args })
  const [{ text }] = result.content as [{ text: string }]
  return { text, data: result.structuredContent as Record<string, never>, isError: result.isError === true }
}

async function connected(url: string, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  // The type of the SDK's transport has optional members that exactOptionalPropertyTypes tells apart.
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as never)
  return client
}

describe('the official client of the Model Context Protocol, over HTTP', () => {
  let client: Client
  beforeAll(async () => {
    client = await connected(`${sandbox.controlUrl}/mcp`)
  })
  afterAll(() => client.close())

  test('finds at most six tools, each with a schema and a reason to use it', async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['connect', 'requests', 'report', 'faults', 'clock'])
    for (const { description, inputSchema } of tools) {
      expect(description!.length).toBeGreaterThan(60)
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
    }
    expect(client.getServerVersion()).toMatchObject({ name: 'yield-sandbox' })
    expect(client.getInstructions()).toContain('Begin with connect')
  })

  test('connects, has a deposit dropped, and learns what was wrong with the client', async () => {
    const { text, data } = await call(client, 'connect')
    expect(text).toContain(`YIELD_BASE_URL=${sandbox.baseUrl}`)
    expect(data).toMatchObject({ tenants: [{ client_id: sandbox.tenants[0]!.client_id }, {}, {}] })
    const added = await call(client, 'faults', {
      clear: true,
      add: [{ kind: 'drop_connection', phase: 'after_broadcast', match: { operation: 'deposit' } }],
    })
    expect(added.text).toMatch(/^fault-\d+: The connection is reset .* It has struck 0 times\.$/)
    const acme = partnerAt(await sandbox.credentials())
    const [{ portfolio_id }] = (await acme.get('end_users/alice/portfolios')).body.data as [{ portfolio_id: string }]
    const deposit = () => acme.post('end_users/alice/deposit', { portfolio_id, amount_minor: '1000000' })
    await expect(deposit()).rejects.toThrow()
    await deposit()
    const report = await call(client, 'report', { require: ['idempotency-key-on-retry'] })
    expect(report.text).toContain('critical')
    expect(report.data).toMatchObject({ verdict: 'failed' })
    const list = await call(client, 'requests', { operation: 'deposit' })
    expect(list.text.split('\n')).toHaveLength(2)
    const [{ request_id }] = (list.data as unknown as { data: [{ request_id: string }] }).data
    expect((await call(client, 'requests', { request_id })).text).toMatch(/^acme .*deposit/)
  })

  test('moves the clock, and lists what can go wrong', async () => {
    expect((await call(client, 'clock', { set: '2031-01-01T00:00:00Z', freeze: true })).text).toMatch(
      /^It is 2031-01-01T00:00:00\.\d{3}Z, frozen\.$/,
    )
    expect((await call(client, 'faults', { kinds: true })).text).toMatch(
      /^drop_connection: during_response, on_request/m,
    )
  })

  test.each([
    ['requests', { statuss: '401' }, /statuss.*status/],
    ['requests', { limit: 0 }, /limit/],
    ['requests', { request_id: 'req_unknown' }, /req_unknown/],
    ['faults', { add: [{ kind: 'drop_conection' }] }, /drop_connection/],
    ['clock', { advance: 'a week' }, /duration/],
    ['connect', { new_namespace: 'No Name' }, /new_namespace|name/],
  ])('is told what is wrong with %s %j', async (name, args, said) => {
    const { isError, text } = await call(client, name, args)
    expect({ isError, text }).toEqual({ isError: true, text: expect.stringMatching(said) })
  })

  test('is told which tool it means', async () => {
    await expect(client.callTool({ name: 'reports', arguments: {} })).rejects.toThrow(
      /there is no tool "reports".*report/,
    )
  })
})

test('a namespace that the tool makes is one like others', async () => {
  const client = await connected(`${sandbox.controlUrl}/mcp`)
  const { data } = await call(client, 'connect', { new_namespace: 'of-an-agent' })
  const agents = await connected(`${new URL(sandbox.baseUrl).origin}/_sandbox/namespaces/of-an-agent/mcp`)
  expect((await call(agents, 'connect')).data).toEqual(data)
  await sandbox.namespaces.delete('of-an-agent')
  await expect(call(agents, 'connect')).rejects.toThrow(/namespace_not_found/)
})

test('the tools are guarded as control is', async () => {
  await using guarded = await testSandbox({ controlToken: 'local-only' })
  const url = `${guarded.controlUrl}/mcp`
  await expect(connected(url)).rejects.toThrow(/401|control/)
  const client = await connected(url, { authorization: 'Bearer local-only' })
  expect((await call(client, 'faults', { clear: true })).text).toBe('No fault is in force.')
  const foreign = await fetch(url, {
    method: 'POST',
    headers: { authorization: 'Bearer local-only', origin: 'https://evil.example', 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  })
  expect(foreign.status).toBe(403)
  expect((await fetch(url, { headers: { authorization: 'Bearer local-only' } })).status).toBe(405)
})

test('a command that takes faults away by the tool is found out', async () => {
  const message = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'faults', arguments: { clear: true } },
  }
  const script = `
    const { YIELD_BASE_URL: base, YIELD_CONTROL_URL: control } = process.env
    await fetch(base + '/v1/partner/pools')
    const headers = { 'content-type': 'application/json' }
    await fetch(control + '/mcp', { method: 'POST', headers, body: '${JSON.stringify(message)}' })`
  await expect(exploring(['node', '--input-type=module', '-e', script])).rejects.toThrow(/takes|reset|faults/)
})

describe('messages', () => {
  const server = new McpServer(mcpTools({} as never), '1')

  test.each([
    ['{', -32_700],
    ['[]', -32_600],
    ['null', -32_600],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32_600],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32_600],
    ['{"jsonrpc":"2.0","id":1,"method":"resources/list"}', -32_601],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"__proto__"}}', -32_602],
  ])('%s is answered with %i', async (text, code) => {
    expect(await server.answer(text)).toMatchObject({ jsonrpc: '2.0', error: { code } })
  })

  test('a notification has no answer, and a version that is unknown gets the newest', async () => {
    expect(await server.answer('{"jsonrpc":"2.0","method":"notifications/initialized"}')).toBeUndefined()
    const hello = { jsonrpc: '2.0', id: 'a', method: 'initialize', params: { protocolVersion: '1999-01-01' } }
    expect(await server.answer(JSON.stringify(hello))).toMatchObject({
      id: 'a',
      result: { protocolVersion: '2025-11-25' },
    })
    hello.params.protocolVersion = '2025-03-26'
    expect(await server.answer(JSON.stringify(hello))).toMatchObject({ result: { protocolVersion: '2025-03-26' } })
  })
})
