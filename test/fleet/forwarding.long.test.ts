import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Credentials } from '../../src/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { partnerAt } from '../helpers/partner.ts'
import { RawClient } from './two-ways.ts'

interface Fleet {
  owner: ChildProcess
  credentials: Credentials
  front: string
  stop(): Promise<void>
}

const measured = new URL('../../bench/support/fleet.mjs', import.meta.url).href
const { launchFleet } = (await import(measured)) as { launchFleet(): Promise<Fleet> }

describe('an owner that ends in the middle of a request ends the connection the same through another process', () => {
  test.each(['SIGKILL', 'SIGTERM'] as const)('by %s', async (signal) => {
    const fleet = await launchFleet()
    onTestFinished(() => fleet.stop())
    const { credentials, front, owner } = fleet
    const partner = partnerAt(credentials)
    const portfolio = await partner.insistOnOpening('alice')
    const tokens = [
      `Authorization: Bearer ${await partner.idpToken()}`,
      `X-User-Token: ${await partner.userToken('alice')}`,
    ]
    const hold = { kind: 'hang', phase: 'before_broadcast', times: 'always' }
    const json = { 'content-type': 'application/json' }
    await fetch(`${credentials.base_url}/_sandbox/faults`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify(hold),
    })
    const clients = [credentials.base_url, front].map((url) => new RawClient(url))
    for (const [i, client] of clients.entries()) {
      const body = JSON.stringify({ portfolio_id: portfolio, amount_minor: '1000' })
      const key = `Idempotency-Key: 1b4e28ba-2fa1-41d2-883f-0016d3cca42${i}`
      const lines = ['Host: a.test', ...tokens, key, 'Content-Type: application/json', `Content-Length: ${body.length}`]
      await client.write(`POST /v1/partner/end_users/alice/deposit HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
    }
    await eventually(async () => {
      const answer = await fetch(`${credentials.base_url}/_sandbox/requests?end=open`)
      expect(((await answer.json()) as { data: unknown[] }).data).toHaveLength(2)
    })
    owner.kill(signal)
    for (const client of clients) await client.ended()
    const [direct, through] = clients.map(({ received }) => received)
    expect(through).toEqual(direct)
    // Nobody is there any more: the front says so, and for how long to wait.
    const next = new RawClient(front)
    await next.write('GET /v1/partner/pools HTTP/1.1\r\nHost: a.test\r\n\r\n')
    await next.answers(1)
    expect(next.text).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: 1/i)
    next.socket.destroy()
  })
})

/** Their sandbox is the one that namespaces are made in: see `testNamespace()`. */
const SPECIFICATION = ['endpoint-', 'pagination', 'idempotency-key', 'user-token', 'versioning', 'errors'].map(
  (name) => `test/specification/${name}`,
)

test('the tests of the specification pass through a process that only passes requests on', async () => {
  const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))
  const run = spawn(process.execPath, [vitest, 'run', ...SPECIFICATION, '--exclude', '**/*.long.test.ts'], {
    env: { ...process.env, TEST_THROUGH_FRONT: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [run.stdout, run.stderr]) stream.on('data', (chunk) => (output += chunk))
  const [code] = await once(run, 'close')
  expect({ code, output }).toEqual({ code: 0, output: expect.any(String) })
})
