import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testSandbox } from '../helpers/partner.ts'
import { PATIENCE } from '../helpers/patience.ts'
import { ROOT } from './command.ts'

const MISTAKEN = { ...process.env, MISTAKE: 'fresh-key' } as Record<string, string>
let client: Client

beforeAll(async () => {
  client = new Client({ name: 'test', version: '1' })
  const args = ['bin/yield-sandbox.js', 'mcp', '--url', 'http://127.0.0.1:9']
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: ROOT, env: MISTAKEN }))
})
afterAll(() => client.close())

const call = (name: string, args: Record<string, unknown> = {}, onprogress?: (one: { message?: string }) => void) =>
  client.callTool({ name, arguments: args }, undefined, {
    timeout: 10 * PATIENCE,
    ...(onprogress && { onprogress }),
  } as never)

test('over stdin and stdout there are six tools', async () => {
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['connect', 'requests', 'report', 'faults', 'clock', 'explore'])
})

test('without a sandbox it says how to have one', async () => {
  const answer = await call('connect')
  expect(answer).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/no sandbox answers at http:\/\/127.0.0.1:9/) }],
  })
})

test('explore names the trial that pays twice and the fix, and reports progress; asked again for that trial it says the same', async () => {
  const progress: string[] = []
  const wish = { command: ['node', 'test/explore/suite.mjs'], only: 'deposit', faults: 'reset-after-broadcast' }
  const explored = await call('explore', wish, ({ message = '' }) => progress.push(message))
  const { verdict, wrong } = explored.structuredContent as {
    verdict: string
    wrong: { trials: string[]; findings: object[] }[]
  }
  expect([verdict, wrong[0]?.trials[0]]).toEqual(['failed', 'deposit#1@carol reset-after-broadcast'])
  expect(wrong[0]!.findings).toContainEqual(
    expect.objectContaining({ id: 'idempotency-key-on-retry', fix: expect.any(String) }),
  )
  expect(progress.length).toBeGreaterThan(0)
  const again = await call('explore', { command: wish.command, trial: wrong[0]!.trials[0] })
  expect(again.structuredContent).toMatchObject({ verdict: 'failed' })
})

test('explore kills a worker where it is asked to', async () => {
  const wish = {
    command: ['env', 'MISTAKE=key-per-start', 'node', 'test/crash/worker.mjs'],
    crash: true,
    only: 'withdraw',
    faults: 'killed-unanswered',
  }
  expect(await call('explore', wish)).toMatchObject({
    structuredContent: { verdict: 'failed', wrong: [{ trials: ['withdraw#1@customer-1 killed-unanswered'] }] },
  })
})

test.each([
  [{ command: ['no-such-command'] }, /no-such-command/],
  [{ command: [] }, /command/],
  [{ command: ['true'], only: 'depositt' }, /deposit/],
])('explore says what is wrong with %j', async (wish, said) => {
  expect(await call('explore', wish)).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(said) }] })
})

test('it ends with its input', async () => {
  await using sandbox = await testSandbox()
  const other = new Client({ name: 'test', version: '1' })
  const args = ['bin/yield-sandbox.js', 'mcp', '--url', sandbox.baseUrl]
  const transport = new StdioClientTransport({ command: process.execPath, args, cwd: ROOT })
  await other.connect(transport)
  expect((await other.callTool({ name: 'connect', arguments: {} })).structuredContent).toMatchObject({
    base_url: sandbox.baseUrl,
  })
  const ended = new Promise<void>((done) => {
    transport.onclose = done
  })
  await other.close()
  await ended
})
