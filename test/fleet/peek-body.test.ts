import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { peekBody } from '../../src/fleet/peek-body.ts'

const MOST = 16 * 1024

/** Peeks, and then reads the body as whoever answers the request would. */
async function twice(request: IncomingMessage): Promise<{ peeked: number | null; read: number }> {
  const peeked = await peekBody(request, MOST)
  let read = 0
  if (!request.readableEnded) for await (const chunk of request) read += chunk.length
  return { peeked: peeked?.length ?? null, read }
}

const seen: unknown[] = []
const server = createServer(async (request, response) => {
  const result = await twice(request).catch((error: Error) => ({ error: error.message }))
  seen.push(result)
  response.end(JSON.stringify(result))
})
const head = (...lines: string[]) => `POST /oauth2/token HTTP/1.1\r\nHost: a.test\r\n${lines.join('\r\n')}\r\n\r\n`
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const open = async () => {
  const { port } = server.address() as { port: number }
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  return socket
}

describe('a body that is looked into first is there for whoever reads it', () => {
  const x = (length: number) => 'x'.repeat(length)
  test.each<[string, string[], { peeked: number | null; read: number }]>([
    ['at once', [head('Content-Length: 5') + x(5)], { peeked: 5, read: 5 }],
    ['in pieces', [head('Content-Length: 9'), x(4), x(5)], { peeked: 9, read: 9 }],
    ['in chunks', [head('Transfer-Encoding: chunked'), chunk(x(7)), chunk(x(2)), '0\r\n\r\n'], { peeked: 9, read: 9 }],
    ['without any chunk', [`${head('Transfer-Encoding: chunked')}0\r\n\r\n`], { peeked: 0, read: 0 }],
    ['without any chunk, late', [head('Transfer-Encoding: chunked'), '0\r\n\r\n'], { peeked: 0, read: 0 }],
    ['not at all', [head('X-A: 1')], { peeked: null, read: 0 }],
    ['empty', [head('Content-Length: 0')], { peeked: null, read: 0 }],
    ['as long as it may be', [head(`Content-Length: ${MOST}`), x(100), x(MOST - 100)], { peeked: MOST, read: MOST }],
    ['longer', [head(`Content-Length: ${MOST + 1}`), x(MOST + 1)], { peeked: null, read: MOST + 1 }],
    [
      'in chunks, longer',
      [head('Transfer-Encoding: chunked'), chunk(x(200_000)), '0\r\n\r\n'],
      { peeked: null, read: 200_000 },
    ],
  ])('%s', async (_, pieces, expected) => {
    const socket = await open()
    for (const piece of pieces) {
      socket.write(piece)
      await new Promise((resolve) => setImmediate(resolve))
    }
    const [answer] = await once(socket, 'data')
    expect(JSON.parse(String(answer).split('\r\n\r\n')[1] ?? '')).toEqual(expected)
    // The connection is good for the next request.
    socket.write(head('Content-Length: 2') + x(2))
    const [next] = await once(socket, 'data')
    expect(String(next)).toContain('"peeked":2,"read":2')
    socket.destroy()
  })

  test('a client that leaves in the middle of it leaves nothing waiting', async () => {
    const before = seen.length
    for (const leave of ['destroy', 'resetAndDestroy'] as const) {
      const socket = await open()
      socket.write(head('Content-Length: 9') + x(4))
      await once(server, 'request')
      socket[leave]()
    }
    await expect.poll(() => seen.length).toBe(before + 2)
  })
})
