import { once } from 'node:events'
import { createServer as createHttpServer, request, type Server } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Owner, OwnerPlace } from '../../src/fleet/owner.ts'
import { Listener } from '../../src/http/listener.ts'
import { answerForwarded, leadToOwners, openFleetListener } from '../../src/sandbox/front.ts'
import { selfSigned } from '../../src/tls/server-certificate.ts'
import { eventually } from '../helpers/eventually.ts'
import { RawClient, TwoWays } from './two-ways.ts'

const SECRET = 'the-secret-of-the-fleet'
const GET = 'GET /v1/partner/pools HTTP/1.1\r\nHost: sandbox.test\r\n\r\n'

let ways: TwoWays
beforeAll(async () => {
  ways = await TwoWays.start()
})
afterAll(() => ways.stop())

/** A front before the sandbox, for one test; `places` are what it is told of the owner, one look-up after another. */
async function frontTo(...places: OwnerPlace[]): Promise<{ url: string; failed: (Owner | undefined)[] }> {
  const failed: (Owner | undefined)[] = []
  const front = await TwoWays.front(ways.owner, (of) => {
    failed.push(of)
    return places[Math.min(failed.length, places.length) - 1] ?? null
  })
  onTestFinished(() => front.close())
  return { url: front.url, failed }
}

/** Address of a port at which nobody listens. */
async function nobody(): Promise<Owner> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return { host: '127.0.0.1', port, secret: SECRET }
}

/** The fleet listener of a process whose application answers with what it sees of a request; undefined: it owns nothing. */
async function process(application?: Server): Promise<Owner> {
  const listener = await openFleetListener({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => listener.close())
  await answerForwarded(listener, SECRET, () => application)
  return { host: '127.0.0.1', port: Number(new URL(listener.url).port), secret: SECRET }
}

/** An application that answers with what it sees of each request. */
function mirror(): Server {
  return createHttpServer(async (incoming, response) => {
    const { rawHeaders, headers, httpVersion, method, url, socket } = incoming
    let body = ''
    for await (const chunk of incoming) body += chunk
    const from = `${socket.remoteAddress} ${socket.remotePort}`
    const seen = {
      rawHeaders,
      headers,
      httpVersion,
      method,
      url,
      from,
      encrypted: 'encrypted' in socket,
      body: body.length,
    }
    response.end(JSON.stringify(seen))
  })
}

async function answerTo(url: string, bytes: string): Promise<RawClient> {
  const client = new RawClient(url)
  onTestFinished(() => void client.socket.destroy())
  await client.write(bytes)
  await client.answers(1)
  return client
}

const bodyOf = ({ text }: RawClient) => JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))

describe('a request goes to the owner, who is looked up again when it is not there', () => {
  test('once, when its port refuses', async () => {
    const gone = await nobody()
    const { url, failed } = await frontTo(gone, ways.address)
    expect((await answerTo(url, GET)).text).toMatch(/^HTTP\/1\.1 401 /)
    expect(failed).toEqual([undefined, gone])
  })

  test.each([
    ['nobody is', []],
    ['the second one is not there either', [true, true]],
  ])('and is answered 503 with Retry-After if %s', async (_, gone) => {
    const { url } = await frontTo(...(await Promise.all(gone.map(() => nobody()))))
    const client = await answerTo(url, GET)
    expect(client.text).toMatch(/^HTTP\/1\.1 503 [\s\S]*\r\nretry-after: 1\r\n/i)
    expect(bodyOf(client)).toMatchObject({ code: 'service_unavailable', instance: '/v1/partner/pools' })
  })

  test.each([
    ['a short body, which is kept', '/v1/partner/x', 1000],
    ['a body of a mebibyte, before it is sent', '/rpc/31337', 2 ** 20],
  ])('after 421, with %s', async (_, path, length) => {
    const [former, owner] = [await process(), await process(mirror())]
    const { url, failed } = await frontTo(former, owner)
    const bytes = `POST ${path} HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`
    expect(bodyOf(await answerTo(url, bytes))).toMatchObject({ body: length, url: path })
    expect(failed).toEqual([undefined, former])
  })

  test('never again once a byte of it may have left', async () => {
    const sockets: Socket[] = []
    const silent = createServer((socket) => socket.on('error', () => undefined).once('data', () => socket.destroy()))
    silent.on('connection', (socket) => sockets.push(socket)).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestFinished(() => void silent.close())
    const { port } = silent.address() as { port: number }
    const { url, failed } = await frontTo({ host: '127.0.0.1', port, secret: SECRET }, ways.address)
    const client = await answerTo(url, GET)
    expect(client.received).toEqual({ text: '', end: 'FIN' })
    expect([sockets.length, failed.length]).toEqual([1, 1])
  })
})

describe('the listener of the fleet', () => {
  test('gives the application the request as its client sent it, and the address of the client', async () => {
    const owner = await process(mirror())
    const { url } = await frontTo(owner)
    const client = await answerTo(
      url,
      'POST /a?b HTTP/1.0\r\nX-Sandbox-Forwarded: spoofed 1 0 1.1 https 1 6.6.6.6\r\nx-A: 1\r\n\r\n',
    )
    const spoofed = ['X-Sandbox-Forwarded', 'spoofed 1 0 1.1 https 1 6.6.6.6']
    expect(bodyOf(client)).toEqual({
      rawHeaders: [...spoofed, 'x-A', '1'],
      headers: { 'x-sandbox-forwarded': spoofed[1], 'x-a': '1' },
      httpVersion: '1.0',
      method: 'POST',
      url: '/a?b',
      from: `127.0.0.1 ${client.port}`,
      encrypted: false,
      body: 0,
    })
  })

  test.each([
    ['without the header', {}, 403],
    ['with another secret', { 'X-Sandbox-Forwarded': `${SECRET}x 1 0 1.1 http 1 1.1.1.1` }, 403],
    ['passed on before', { 'X-Sandbox-Forwarded': `${SECRET} 2 0 1.1 http 1 1.1.1.1` }, 421],
    ['with more lines than there are', { 'X-Sandbox-Forwarded': `${SECRET} 1 9 1.1 http 1 1.1.1.1` }, 421],
  ])('refuses a request %s', async (_, headers, status) => {
    const { host, port } = await process(mirror())
    const asked = request({ host, port, headers, agent: false, setHost: false }).end()
    const [answer] = await once(asked, 'response')
    expect(answer.statusCode).toBe(status)
    expect(answer.headers['content-length']).toBe('0')
    answer.resume()
  })

  test('says 421 before the body is read', async () => {
    const { host, port } = await process()
    const headers = {
      'X-Sandbox-Forwarded': `${SECRET} 1 1 1.1 http 1 1.1.1.1`,
      'Content-Length': '1000',
      Expect: '100-continue',
    }
    const asked = request({ host, port, headers, agent: false, setHost: false, method: 'POST' })
    const events: string[] = []
    asked.on('continue', () => events.push('continue')).on('error', () => undefined)
    const [answer] = await once(asked, 'response')
    expect([answer.statusCode, events]).toEqual([421, []])
    asked.destroy()
  })
})

test('a listener leads to another process or to the application here, and back, also on open connections', async () => {
  let place: OwnerPlace = ways.address
  const here = createHttpServer((_request, response) => response.end('here'))
  const listener = await Listener.open({ host: '127.0.0.1', port: 0, publicUrl: undefined, tls: undefined })
  onTestFinished(() => listener.close())
  const early = new RawClient(listener.url)
  await early.write(GET)
  const { settings } = ways.owner.namespace.fixture
  const parts = { certificate: undefined, settings, self: undefined, application: () => here }
  await leadToOwners(listener, { ...parts, ownerOf: () => place })
  await early.answers(1)
  for (const [now, answer] of [
    ['here', /here$/],
    [ways.address, /invalid|missing/],
    ['here', /here$/],
  ] as const) {
    place = now
    const before = early.text.length
    await early.write(GET)
    await eventually(() => expect(early.text.slice(before)).toMatch(answer))
    expect((await answerTo(listener.url, GET)).text).toMatch(answer)
  }
  early.socket.destroy()
})

test('a reader that is slow holds up the owner, and gets every byte', async () => {
  const length = 64 * 2 ** 20
  let drained = 0
  const application = createHttpServer(({ url }, response) => {
    if (url === '/drained') return response.end(String(drained))
    const piece = Buffer.alloc(2 ** 20, 'x')
    let left = length
    const more = () => {
      while (left > 0) {
        left -= piece.length
        if (!response.write(piece)) return response.once('drain', more)
      }
      return response.end()
    }
    response.on('drain', () => drained++)
    response.writeHead(200, { 'content-length': length })
    return more()
  })
  const owner = await process(application)
  const { url } = await frontTo(owner)
  const client = new RawClient(url)
  client.socket.pause()
  await client.write(GET)
  await eventually(() => expect(client.socket.readableLength).toBeGreaterThan(0))
  // Nobody reads: what is under way fills the buffers between the two, and no more.
  for (let before = -1; before !== drained; ) {
    before = drained
    await answerTo(url, 'GET /drained HTTP/1.1\r\nHost: a.test\r\n\r\n')
  }
  expect(drained).toBeLessThan(32)
  client.socket.resume()
  await client.answers(1)
  expect(client.text.length - client.text.indexOf('\r\n\r\n') - 4).toBe(length)
  client.socket.destroy()
})

test('a WebSocket of a chain passes through', async () => {
  for (const url of [ways.owner.listeningUrl, ways.front.url]) {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/rpc/31337`)
    await once(socket, 'open')
    socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}')
    const [message] = await once(socket, 'message')
    expect(JSON.parse(String(message))).toEqual({ jsonrpc: '2.0', id: 1, result: '0x7a69' })
    socket.close()
    await once(socket, 'close')
  }
})

test('under https the ends of connections are the same', async () => {
  const certificate = await selfSigned({ names: ['localhost'], directory: undefined, now: Date.now() })
  onTestFinished(() => certificate.discard())
  const { front } = ways
  const secure = await TwoWays.front(ways.owner, () => ways.address, certificate)
  onTestFinished(() => secure.close())
  for (const how of ['reset', 'close'] as const) {
    const views = []
    for (const url of [front.url, secure.url]) {
      const rule = { kind: 'drop_connection', with: { how }, match: { operation: 'deposit' } } as const
      const played = await ways.play(url, rule, async ({ open, deposit }) => {
        const client = open()
        await client.write(deposit())
        await client.ended()
      })
      views.push(played)
    }
    expect(views[1]).toEqual(views[0])
  }
  const owner = await process(mirror())
  const mirrored = await TwoWays.front(ways.owner, () => owner, certificate)
  onTestFinished(() => mirrored.close())
  expect(bodyOf(await answerTo(mirrored.url, GET))).toMatchObject({ encrypted: true })
})
