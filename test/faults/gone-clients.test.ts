import { randomUUID } from 'node:crypto'
import { type ClientRequest, request } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { HttpExchange } from '../../src/http/exchange.ts'
import type { FaultRule, SandboxHandle } from '../../src/index.ts'
import { Noted } from '../helpers/garbage.ts'
import { outcome } from '../helpers/outcome.ts'
import { Partner, testNamespace } from '../helpers/partner.ts'
import { goodHeaders, send } from '../http/raw-http.ts'

/** What holds a deposit, and whether the deposit happens when its client gives it up. */
const RULES: [rule: FaultRule, happens: boolean][] = [
  [{ kind: 'hang', phase: 'on_request' }, false],
  [{ kind: 'hang', phase: 'before_broadcast' }, true],
  [{ kind: 'hang', phase: 'after_broadcast' }, true],
  [{ kind: 'hang', phase: 'after_confirmation' }, true],
  [{ kind: 'hang', phase: 'during_response' }, true],
  [{ kind: 'latency', phase: 'on_request', with: { delay: '10h' } }, false],
  [{ kind: 'latency', phase: 'before_broadcast', with: { delay: '10h' } }, true],
  [{ kind: 'latency', phase: 'after_broadcast', with: { delay: '10h' } }, true],
  [{ kind: 'latency', phase: 'after_confirmation', with: { delay: '10h' } }, true],
  [{ kind: 'latency', phase: 'during_response', with: { delay: '10h' } }, true],
  [{ kind: 'latency', phase: 'during_response', with: { bytes_per_second: 1 } }, true],
]
const HEADERS: [header: string, happens: boolean][] = [
  ['hang; phase=on_request', false],
  ['hang; phase=after_confirmation', true],
  ['latency; phase=on_request; delay=10h', false],
  ['latency; phase=before_broadcast; delay=10h', true],
  ['latency; phase=during_response; bytes_per_second=1', true],
  ['stuck', true],
  ['slow_confirmation; delay=10h', true],
]

/**
 * A request on a connection of its own, which its client can destroy: `fetch` keeps the last exchange of a connection. It is made again
 * while the chain is late, as that of a busy machine may be.
 */
function open(url: string, headers: Record<string, string>, body: unknown): { destroy(): void } {
  let outgoing: ClientRequest
  const ask = () => {
    outgoing = request(url, { method: 'POST', headers, agent: false })
    outgoing.on('error', () => undefined)
    outgoing.on('response', (incoming) => {
      incoming.on('error', () => undefined).resume()
      if (incoming.statusCode === 503) ask()
    })
    outgoing.end(JSON.stringify(body))
  }
  ask()
  return { destroy: () => void outgoing.destroy() }
}

/** Has every exchange that a fault strikes noted, until it is disposed of. */
function notedExchanges(): Noted<HttpExchange> & Disposable {
  const noted = new Noted<HttpExchange>()
  const struckBy = Object.getOwnPropertyDescriptor(HttpExchange.prototype, 'struckBy')!
  Object.defineProperty(HttpExchange.prototype, 'struckBy', {
    ...struckBy,
    set(this: HttpExchange, fault: HttpExchange['struckBy']) {
      noted.note(this)
      struckBy.set!.call(this, fault)
    },
  })
  const restore = () => Object.defineProperty(HttpExchange.prototype, 'struckBy', struckBy)
  return Object.assign(noted, { [Symbol.dispose]: () => void restore() })
}

let sandbox: SandboxHandle
let acme: Partner
beforeAll(async () => {
  sandbox = await testNamespace()
  await sandbox.clock.freeze()
  acme = new Partner(sandbox)
})
afterEach(() => sandbox.faults.clear())
afterAll(() => sandbox.stop())

describe('a client that goes away', () => {
  test('is held by no fault any longer, and what it asked for happens unless nothing was done', async () => {
    const cases = [
      ...RULES.map(([rule, happens]) => ({ name: JSON.stringify(rule), rule, headers: {}, happens })),
      ...HEADERS.map(([header, happens]) => ({ name: header, headers: { 'x-sandbox-fault': header }, happens })),
    ].map((one, i) => ({ ...one, user: `user-${i}` }))
    const jars = await Promise.all(cases.map(({ user }) => acme.insistOnOpening(user)))
    for (const one of cases) {
      const match = { operation: 'deposit', external_id: one.user } as const
      if ('rule' in one) await sandbox.faults.add({ ...one.rule, match, times: 'always' })
    }
    using exchanges = notedExchanges()
    const clients: ReturnType<typeof open>[] = []
    for (const [i, { user, headers }] of cases.entries()) {
      const all = { ...(await goodHeaders(acme, user)), 'idempotency-key': randomUUID(), ...headers }
      const url = `${sandbox.baseUrl}/v1/partner/end_users/${user}/deposit`
      clients.push(open(url, all, { portfolio_id: jars[i], amount_minor: '1000' }))
      await expect.poll(() => exchanges.size).toBe(i + 1)
    }
    await expect.poll(async () => (await sandbox.faults.list()).map(({ hits }) => hits)).toEqual(RULES.map(() => 1))
    await expect.poll(() => exchanges.held()).toBe(cases.length)
    const listed = async (user: string) => {
      const path = `/v1/partner/end_users/${user}/transactions`
      const { text } = await send(sandbox.baseUrl, { path, headers: await goodHeaders(acme, user) })
      return JSON.parse(text).data.length === 1
    }
    for (const [i, { name, user, happens }] of cases.entries()) {
      clients[i]!.destroy()
      await expect.poll(() => listed(user), { message: name }).toBe(happens)
    }
    await expect.poll(() => exchanges.held(), { interval: 100 }).toBe(0)
    for (const { name, user, happens } of cases) expect(await listed(user), name).toBe(happens)
    // The rules are still there for others.
    expect(await sandbox.faults.list()).toHaveLength(RULES.length)
  })

  test('does not use up a fault of the answer that nobody reads', async () => {
    const portfolio = await acme.insistOnOpening('dan')
    const match = { operation: 'deposit', external_id: 'dan' } as const
    await sandbox.faults.add({ kind: 'latency', phase: 'after_broadcast', match, with: { delay: '10h' } })
    const [hold] = await sandbox.faults.list()
    const url = `${sandbox.baseUrl}/v1/partner/end_users/dan/deposit`
    const headers = await goodHeaders(acme, 'dan')
    const client = open(url, headers, { portfolio_id: portfolio, amount_minor: '1000' })
    await expect.poll(async () => (await sandbox.faults.list())[0]?.hits).toBe(1)
    // Another request joins the deposit, and is there when it is answered.
    await sandbox.faults.add({ kind: 'error', phase: 'during_response', match, with: { status: 502 } })
    const key = headers['idempotency-key']!
    const retry = acme.deposit('dan', portfolio, '1000', { key })
    client.destroy()
    expect(outcome(await retry)).toBe('502 bad_gateway')
    expect(await sandbox.faults.list()).toMatchObject([{ id: hold!.id, hits: 1 }, { hits: 1 }])
    expect(outcome(await acme.deposit('dan', portfolio, '1000', { key }))).toBe('200')
  })
})

test('nobody is warned of listeners: many requests on one connection, each struck', async () => {
  const warnings: string[] = []
  const warn = ({ message }: Error) => warnings.push(message)
  process.on('warning', warn)
  await sandbox.faults.add({ kind: 'latency', times: 'always', phase: 'on_request', with: { delay: '1ms' } })
  await sandbox.clock.unfreeze()
  for (let i = 0; i < 50; i++) expect(outcome(await acme.get('pools'))).toBe('200')
  await sandbox.faults.clear()
  process.off('warning', warn)
  expect(warnings).toEqual([])
})
