import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RpcServer } from '../../src/chain/json-rpc/rpc-server.ts'

let server: RpcServer
beforeAll(async () => {
  server = await RpcServer.listen(async (body) => {
    if (body === 'fails') throw new Error('the handler fails')
    return `answer to ${body}`
  })
})
afterAll(() => server.close())

const ask = async (body: string) => (await fetch(server.url, { method: 'POST', body })).text()

/** All that comes back on a connection on which these pieces are sent, each when the one before has left, until its end. */
async function raw(...pieces: string[]): Promise<string> {
  const { hostname, port } = new URL(server.url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  for (const piece of pieces) await new Promise((resolve) => socket.write(piece, resolve))
  await once(socket, 'close')
  return text
}

const post = (body: string) =>
  `POST ${new URL(server.url).pathname} HTTP/1.1\r\nHost: anvil\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
/** Ends a connection: it has no such path. */
const LAST = 'POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n'

test('answers one request after another on a connection', async () => {
  expect(await ask('one')).toBe('answer to one')
  expect(await ask('zwölf €')).toBe('answer to zwölf €')
})

test('answers requests that arrive in pieces, and those that arrive together in their order', async () => {
  const all = post('first') + post('zweite €')
  const cut = all.length / 3
  const pieces = [all.slice(0, cut), all.slice(cut, 2 * cut), all.slice(2 * cut)]
  for (const sent of [pieces, [all], [...all]]) {
    expect((await raw(...sent, LAST)).match(/answer to .*?(?=HTTP|$)/g)).toEqual([
      'answer to first',
      'answer to zweite €',
    ])
  }
})

test('reads a body of megabytes', async () => {
  const body = 'x'.repeat(5_000_000)
  expect(await ask(body)).toBe(`answer to ${body}`)
})

test('ends a connection on which anything else arrives', async () => {
  const { pathname } = new URL(server.url)
  const others = [
    LAST,
    `GET ${pathname} HTTP/1.1\r\ncontent-length: 0\r\n\r\n`,
    `POST ${pathname}x HTTP/1.1\r\ncontent-length: 0\r\n\r\n`,
    `POST ${pathname} HTTP/1.1\r\n\r\n`,
    `POST ${pathname} HTTP/1.1\r\ncontent-length: 16777217\r\n\r\n`,
    'x'.repeat(17_000),
  ]
  for (const other of others) expect(await raw(other)).toMatch(/^HTTP\/1\.1 404 /)
})

test('hangs up on a request that cannot be answered, and answers the next connection', async () => {
  await expect(ask('fails')).rejects.toThrow()
  expect(await ask('next')).toBe('answer to next')
})
