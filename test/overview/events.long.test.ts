import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ControlClient } from '../../src/control/client.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { eventually } from '../helpers/eventually.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { EventReader } from './event-reader.ts'

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testSandbox()
})
afterAll(() => sandbox.stop())

async function scene() {
  const namespace = await sandbox.namespaces.create()
  const control = new ControlClient(sandbox.baseUrl, { namespace: namespace.namespace })
  const acme = new Partner(namespace)
  const url = `${sandbox.controlUrl}/namespaces/${namespace.namespace}`
  return { namespace, acme, control, url, [Symbol.asyncDispose]: () => namespace[Symbol.asyncDispose]() }
}

test('rows come as requests do, first as they stand, then judged', async () => {
  await using on = await scene()
  const reader = await EventReader.open(on.url)
  await reader.until(({ event }) => event === 'hello')
  const jar = await on.acme.open('dave')
  await on.namespace.faults.add({ kind: 'drop_connection', phase: 'after_broadcast', match: { operation: 'deposit' } })
  await on.acme.deposit('dave', jar, '250000000').catch(() => undefined)
  await on.acme.deposit('dave', jar, '250000000')
  const judged = await reader.until(
    ({ event, data }) =>
      event === 'operations' && data.operations.some((row: { outcome: string }) => row.outcome === 'Paid twice'),
  )
  expect(judged.data.gone).toHaveLength(1)
  const headline = await reader.until(({ event, data }) => event === 'headline' && data.tone === 'bad')
  expect(headline.data).toMatchObject({ sentence: '250.00 USDC moved twice.' })
  await reader.until(({ event }) => event === 'faults')
  await reader.until(({ event, data }) => event === 'block' && data.number > 0)
  const page = await on.control.operations()
  expect([...reader.rows().values()].sort((a, b) => b.number - a.number)).toEqual(page.operations)
  reader.cut()
})

test('a reader who was cut off gets what it missed, by header or by polling; who cannot is told to read anew', async () => {
  await using on = await scene()
  const first = await EventReader.open(on.url)
  await on.acme.get('pools')
  const seen = await first.until(({ event }) => event === 'operations')
  first.cut()
  await on.namespace.clock.advance('31d')
  const second = await EventReader.open(on.url, seen.id)
  const moved = await second.until(({ event }) => event === 'clock')
  expect(moved.data.offset_seconds).toBe(31 * 86_400)
  const polled = await on.control.events(seen.id)
  expect(polled.events.map(({ event }) => event)).toContain('clock')
  const later = await on.control.events(polled.event_id)
  expect(later.events.map(({ event }) => event)).not.toContain('clock')
  expect((await on.control.events('another.7')).events).toEqual([{ event: 'anew', data: {} }])
  const third = await EventReader.open(on.url, 'another.7')
  expect((await third.until(({ event }) => event === 'anew')).id).toMatch(/^\w+\.\d+$/)
  second.cut()
  third.cut()
})

test('the id of a page leads on from it', async () => {
  await using on = await scene()
  const { event_id } = await on.control.operations()
  await on.acme.get('pools')
  const reader = await EventReader.open(on.url, event_id)
  const { data } = await reader.until(
    ({ event, data: { operations } }) => event === 'operations' && operations.length > 0,
  )
  expect(data.total).toBeGreaterThan(0)
  reader.cut()
})

test('a reset, DELETE requests and the end of the namespace are said; the first two go on', async () => {
  const on = await scene() // ends within
  const reader = await EventReader.open(on.url)
  await on.acme.get('pools')
  await reader.until(({ event }) => event === 'operations')
  await on.control.clearRequests()
  await reader.until(({ event, data }) => event === 'forgotten' && data.reason === 'deleted')
  await on.control.reset()
  await reader.until(({ event, data }) => event === 'forgotten' && data.reason === 'reset')
  await on.acme.get('end_users/alice/portfolios')
  await reader.until(({ event, data }) => event === 'operations' && data.operations.at(-1)?.number === 1)
  await on.control.deleteNamespace(on.namespace.namespace)
  await reader.until(({ event, data }) => event === 'ended' && data.reason === 'deleted')
  await expect.poll(() => reader.ended).toBe(true)
})

test('a burst of requests: at most 100 rows in an event, and how many were left out', async () => {
  await using on = await scene()
  const reader = await EventReader.open(on.url)
  await on.acme.idpToken()
  const wave = () => Promise.all(Array.from({ length: 100 }, () => on.acme.get('pools')))
  for (let i = 0; i < 20; i++) await wave()
  await reader.until(({ event, data }) => event === 'operations' && data.total === 2001)
  const events = reader.events.filter(({ event }) => event === 'operations')
  expect(Math.max(...events.map(({ data }) => data.operations.length))).toBe(100)
  expect(Math.max(...events.map(({ data }) => data.more))).toBeGreaterThan(0)
  reader.cut()
})

test('namespaces that are made and deleted are news in the others', async () => {
  await using on = await scene()
  const reader = await EventReader.open(on.url)
  await reader.until(({ event }) => event === 'hello')
  const other = await sandbox.namespaces.create()
  await reader.until(({ event }) => event === 'namespaces')
  await other[Symbol.asyncDispose]()
  reader.cut()
})

test('a sandbox that stops ends its streams in order', async () => {
  const stopped = await Sandbox.listen({ port: 0, confirmationDelay: 0, seed: 7 })
  const reader = await EventReader.open(`${stopped.baseUrl}/_sandbox`)
  await reader.until(({ event }) => event === 'hello')
  await stopped.ready
  await stopped.stop()
  await reader.until(({ event, data }) => event === 'ended' && data.reason === 'stopping')
})

test('nothing listens to requests, faults and blocks while nobody looks', async () => {
  const open = await Sandbox.listen({ port: 0, confirmationDelay: 0, seed: 7 })
  try {
    const { exchanges, faults } = open.namespace.services
    await open.ready
    expect([exchanges.watcher, faults.watcher, open.namespace.overview.isOpen]).toEqual([null, null, false])
    const reader = await EventReader.open(`${open.baseUrl}/_sandbox`)
    await reader.until(({ event }) => event === 'hello')
    expect([exchanges.watcher, faults.watcher]).not.toContain(null)
    open.namespace.overview.end('stopping')
    await expect.poll(() => reader.ended).toBe(true)
    expect([exchanges.watcher, faults.watcher, open.namespace.overview.isOpen]).toEqual([null, null, false])
  } finally {
    await open.stop()
  }
})

test('over a real socket, too, a reader who takes nothing is dropped, and others go on', async () => {
  const open = await Sandbox.listen({ port: 0, confirmationDelay: 0, seed: 7 })
  try {
    await open.ready
    const slow = connect(Number(new URL(open.baseUrl).port), '127.0.0.1')
    slow.write('GET /_sandbox/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    await once(slow, 'readable')
    slow.pause()
    const quick = await EventReader.open(`${open.baseUrl}/_sandbox`)
    await quick.until(({ event }) => event === 'hello')
    // More than the system keeps for a socket that is not read, and 1 MiB.
    const sentence = 'x'.repeat(256 * 1024)
    for (let number = 1; number <= 80; number++) {
      open.namespace.overview.emit('block', { chain_id: '31337', number, sentence } as never)
      await quick.until(({ data }) => data.number === number)
    }
    let text = ''
    slow.on('data', (chunk) => {
      text = (text + chunk).slice(-1_000_000)
    })
    slow.on('error', () => {}) // reset
    await once(slow.resume(), 'close')
    expect(text).not.toContain('"number":80')
    quick.cut()
  } finally {
    await open.stop()
  }
})

test.each([
  ['poll=2', 'poll'],
  ['last_event_id=', 'last_event_id'],
])('events?%s: 400 with the name of the parameter', async (query, param) => {
  const response = await fetch(`${sandbox.controlUrl}/events?${query}`)
  expect([response.status, ((await response.json()) as { param: string }).param]).toEqual([400, param])
})

test('HEAD asks for the head alone', async () => {
  const head = await fetch(`${sandbox.controlUrl}/events`, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
})

test('over real sockets, too, the 33rd stream of a namespace ends the first', async () => {
  await using on = await scene()
  const readers: EventReader[] = []
  for (let i = 0; i < 33; i++) {
    const reader = await EventReader.open(on.url)
    await reader.until(({ event }) => event === 'hello')
    readers.push(reader)
  }
  await eventually(() =>
    expect(readers.map(({ ended }) => ended)).toEqual([true, ...Array.from({ length: 32 }, () => false)]),
  )
  for (const reader of readers) reader.cut()
})
