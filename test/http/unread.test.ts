import { spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { RecordedExchange } from '../../src/traffic/recorded-exchange.ts'
import { eventually } from '../helpers/eventually.ts'
import { type OpenSandbox, openSandbox } from '../reliability/ledger.ts'

const POOLS = '/v1/partner/pools'
/** A client that sends a request and then does nothing more, not even read: it waits to be killed. */
const DEAF = `
const [transport, port, bytes] = process.argv.slice(1)
const wait = () => { process.stdout.write('sent'); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) }
const options = { port: Number(port), host: '127.0.0.1', rejectUnauthorized: false }
const socket = require(transport).connect(options, () => socket.write(bytes, () => setImmediate(wait)))
`

let open: OpenSandbox
beforeAll(async () => {
  open = await openSandbox()
})
afterAll(() => open.stop())
beforeEach(() => log().clear())

const log = () => open.sandbox.namespace.services.exchanges

/** Sends a request by a client that is killed before it reads its answer. */
async function expectUnread({ sandbox }: OpenSandbox, transport: 'node:net' | 'node:tls'): Promise<void> {
  const { exchanges } = sandbox.namespace.services
  const { port } = new URL(sandbox.baseUrl)
  const child = spawn(process.execPath, ['-e', DEAF, transport, port, head(POOLS)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(child.stdout, 'data')
  await eventually(() => expect(exchanges.all()).toMatchObject([{ end: 'answered', unread: false }]))
  child.kill('SIGKILL')
  await eventually(() => expect(exchanges.all()).toMatchObject([{ end: 'answered', unread: true }]))
}

describe('a client that is killed before it reads its answer', () => {
  test('over HTTP', () => expectUnread(open, 'node:net'))

  test('over HTTPS', async () => {
    const secured = await openSandbox({ tls: 'self-signed' })
    onTestFinished(() => secured.stop())
    await expectUnread(secured, 'node:tls')
  })
})

describe('connections', () => {
  let ends: Promise<unknown>[] = []
  const accept = (message: unknown) =>
    ends.push(new Promise((resolve) => (message as { socket: Socket }).socket.once('close', resolve)))
  beforeEach(() => {
    ends = []
    subscribe('net.server.socket', accept)
  })
  afterEach(() => void unsubscribe('net.server.socket', accept))

  /** A connection on which nothing is read until it is resumed. */
  async function dial(bytes: string): Promise<Socket> {
    const { hostname, port } = new URL(open.sandbox.baseUrl)
    const socket = connect(Number(port), hostname).on('error', () => undefined)
    socket.pause()
    await once(socket, 'connect')
    socket.write(bytes)
    return socket
  }

  const answered = (count: number) =>
    eventually(() =>
      expect(
        log()
          .all()
          .map(({ end }) => end),
      ).toEqual(Array.from({ length: count }, () => 'answered')),
    )

  /** Which requests were answered in vain, once the sandbox has seen the end of the connection. */
  async function unread(expected: boolean[]): Promise<void> {
    await Promise.all(ends)
    expect(
      log()
        .all()
        .map((one: RecordedExchange) => one.unread),
    ).toEqual(expected)
  }

  test('closed without having read: reset', async () => {
    const socket = await dial(head(POOLS))
    await answered(1)
    socket.destroy()
    await unread([true])
  })

  test('reset on purpose', async () => {
    const socket = await dial(head(POOLS))
    await answered(1)
    socket.resetAndDestroy()
    await unread([true])
  })

  test('read, then closed', async () => {
    const socket = await dial(head(POOLS))
    const [answer] = await once(socket.resume(), 'data')
    expect(String(answer)).toContain('401')
    socket.destroy()
    await unread([false])
  })

  test('read, then a further request, which is not read: the first stays read', async () => {
    const socket = await dial(head(POOLS))
    await once(socket.resume(), 'data')
    socket.pause()
    socket.write(head(POOLS))
    await answered(2)
    socket.resetAndDestroy()
    await unread([false, true])
  })

  test('a further request that is not recorded', async () => {
    const socket = await dial(head(POOLS))
    await once(socket.resume(), 'data')
    socket.write(head('/_sandbox/health'))
    await once(socket, 'data')
    socket.resetAndDestroy()
    await unread([false])
  })

  test('three at once, and none of the answers read', async () => {
    open.sandbox.namespace.services.faults.add(
      [{ kind: 'latency', with: { delay: '300ms' }, match: { operation: 'list_pools' } }],
      ['acme'],
    )
    const socket = await dial(head(POOLS).repeat(3))
    await answered(3)
    socket.destroy()
    await unread([true, true, true])
  })

  test('a further request settles those that came at once before it', async () => {
    const socket = await dial(head(POOLS).repeat(2))
    await answered(2)
    socket.write(head(POOLS))
    await answered(3)
    socket.destroy()
    await unread([false, false, true])
  })
})

function head(path: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`
}
