import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, recorded, type Shape, type Stage, TwoWays, withoutBodies, withoutIds } from './two-ways.ts'

let ways: TwoWays
beforeAll(async () => {
  ways = await TwoWays.start()
})
afterAll(() => ways.stop())

describe('whatever HTTP allows or forbids is answered the same', () => {
  const LONG = 'x'.repeat(200 * 1024)
  const MANY = Array.from({ length: 100 }, (_, i) => `X-Header-${i}: ${i}`)
  const data = `0x${'00'.repeat(1.5 * 2 ** 20)}`
  const CALL = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'web3_sha3', params: [data] })
  const RPC = { path: '/rpc/31337', headers: ['Host: 127.0.0.1', 'Connection: close'] }
  const chunked = (...chunks: string[]) =>
    [...chunks.map((chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`), '0\r\n\r\n'].join('')

  test.each<[name: string, bytes: (stage: Stage) => string, answers?: number]>([
    ['a deposit', ({ deposit }) => deposit()],
    ['keep-alive, told', ({ pools }) => pools({ headers: ['Connection: keep-alive'] })],
    ['Connection: close', ({ pools }) => pools({ headers: ['Connection: close'] })],
    ['HEAD', ({ pools }) => pools({ method: 'HEAD' })],
    ['pipelining with HEAD', ({ pools }) => pools() + pools({ method: 'HEAD' }) + pools(), 3],
    ['HTTP/1.0', ({ pools }) => pools({ version: '1.0' })],
    [
      'HTTP/1.0 that keeps the connection',
      ({ pools }) => pools({ version: '1.0', headers: ['Connection: keep-alive'] }),
    ],
    ['HTTP/1.0 without Host', ({ pools }) => pools({ version: '1.0', headers: ['Host:'] })],
    ['no Host', ({ pools }) => pools({ headers: ['Host:'] })],
    ['an empty Host', ({ pools }) => pools({ headers: ['Host: '] })],
    ['two Hosts', ({ pools }) => pools({ headers: ['Host: a.test', 'Host: b.test'] })],
    ['100 headers', ({ pools }) => pools({ headers: MANY })],
    ['an unknown Expect', ({ deposit }) => deposit({ headers: ['Expect: 200-maybe'] })],
    ['Expect with the body behind it', ({ deposit }) => deposit({ headers: ['Expect: 100-continue'] })],
    ['Expect in HTTP/1.0', ({ deposit }) => deposit({ version: '1.0', headers: ['Expect: 100-continue'] })],
    ['an offer of HTTP/2', ({ pools }) => pools({ headers: ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c'] })],
    [
      'odd spelling and doubled headers',
      ({ pools }) => pools({ headers: ['x-A: 1', 'X-a: 2', 'x-b:   3  ', 'X-B: \u00e4'] }),
    ],
    [
      'a header of the fleet, from outside',
      ({ pools }) => pools({ headers: ['X-Sandbox-Forwarded: a 1 0 1.0 http 1 1'] }),
    ],
    ['POST without a body', ({ deposit }) => deposit({ body: null, headers: ['Idempotency-Key:'] })],
    ['GET with a body', ({ pools }) => pools({ body: '{"a":1}' })],
    ['no token', ({ deposit }) => deposit({ headers: ['Authorization:'] })],
    ['an unknown path', ({ pools }) => pools({ path: '/v1/partner/nothing' })],
    ['an unknown method', ({ pools }) => pools({ method: 'PROPFIND' })],
    ['OPTIONS *', ({ pools }) => pools({ method: 'OPTIONS', path: '*' })],
    ['an absolute target', ({ pools }) => pools({ path: 'http://sandbox.test/v1/partner/pools' })],
  ])('%s', async (_, bytes, answers = 1) => {
    await ways.compare(async (stage) => void (await ask(stage, bytes(stage), answers)))
  })

  test.each<[name: string, bytes: (stage: Stage) => string]>([
    ['431', ({ pools }) => pools({ headers: [`X-Long: ${'x'.repeat(17 * 1024)}`] })],
    ['414', ({ pools }) => pools({ path: `/v1/partner/pools?${'x'.repeat(17 * 1024)}` })],
    ['garbage', () => 'garbage\r\n\r\n'],
    ['an unknown word as method', ({ pools }) => pools({ method: 'FROBNICATE' })],
    [
      'Content-Length and Transfer-Encoding',
      ({ deposit }) => deposit({ headers: ['Transfer-Encoding: chunked', 'Content-Length: 3'] }),
    ],
    ['two lengths', ({ deposit }) => deposit({ headers: ['Content-Length: 3', 'Content-Length: 4'] })],
    ['CONNECT', ({ pools }) => pools({ method: 'CONNECT', path: 'sandbox.test:80' })],
    ['RPC of 3 MiB', ({ deposit }) => deposit({ ...RPC, body: CALL })],
    [
      'RPC of 3 MiB in chunks',
      ({ deposit }) =>
        deposit({
          ...RPC,
          headers: [...RPC.headers, 'Transfer-Encoding: chunked'],
          body: chunked(...(CALL.match(/.{1,65536}/g) ?? [])),
        }),
    ],
    ['HTTP/2 at once', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('%s, but for the request id, which no namespace gives', async (_, bytes) => {
    await ways.compare(async (stage) => (await ask(stage, bytes(stage))).ended(), undefined, withoutIds)
  })

  test.each<[name: string, shape: Shape]>([
    ['by its length', { body: LONG }],
    ['in chunks', { body: chunked(LONG), headers: ['Transfer-Encoding: chunked'] }],
  ])('413 at 200 KiB %s, but for how much of it had come', async (_, shape) => {
    const play = async (stage: Stage) => (await ask(stage, stage.deposit(shape))).ended()
    const { received } = await ways.compare(play, undefined, withoutBodies)
    expect(received[0]?.text).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('a request after the first one on the same connection, and another one elsewhere', async () => {
    const { record } = await ways.compare(async (stage) => {
      const client = await ask(stage, stage.pools())
      await client.write(stage.deposit())
      await client.answers(2)
      await ask(stage, stage.pools())
      await client.write(stage.pools())
      await client.answers(3)
    })
    const connections = (record as { connection: number }[]).map(({ connection }) => connection)
    expect(connections).toEqual([connections[3], connections[3]! + 1, connections[3], connections[3]])
  })

  test('100-continue, then the body', async () => {
    const { received } = await ways.compare(async (stage) => {
      const [head, body] = stage.deposit({ headers: ['Expect: 100-continue'] }).split('\r\n\r\n')
      const client = stage.open()
      await client.write(`${head}\r\n\r\n`)
      await expect.poll(() => client.text).toBe('HTTP/1.1 100 Continue\r\n\r\n')
      await client.write(body!)
      await client.answers(1)
    })
    expect(received[0]?.text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 20\d /)
  })

  test.each(['200', '3000'])('a body in two halves, and in chunks with trailers: %s bytes', async (length) => {
    await ways.compare(async (stage) => {
      const whole = stage.deposit({
        body: JSON.stringify({ portfolio_id: stage.portfolio, note: 'x'.repeat(Number(length)) }),
      })
      const client = stage.open()
      await client.write(whole.slice(0, -100))
      await recorded(stage)
      await client.write(whole.slice(-100))
      await client.answers(1)
      const trailers = ['Transfer-Encoding: chunked', 'Trailer: X-Check']
      await client.write(stage.deposit({ headers: trailers, body: '' }))
      await client.write('1\r\n{\r\n')
      await client.write('1\r\n}\r\n0\r\nX-Check: 1\r\n\r\n')
      await client.answers(2)
    })
  })
})

test('deposits in one packet are carried out one after another, and answered in order', async () => {
  const { received, record } = await ways.play(ways.front.url, undefined, async (stage) => {
    const other = stage.deposit({ headers: ['Idempotency-Key: 6fa459ea-ee8a-4ca4-894e-db77e160355e'] })
    await ask(stage, stage.deposit() + stage.deposit() + other, 3)
  })
  expect(received[0]?.text.match(/"transaction_id":"\w+"/g)).toHaveLength(3)
  const uses = (record as { idempotency: { use: string }[] }[]).map(({ idempotency }) => idempotency)
  expect(uses).toMatchObject([{ use: 'first' }, { use: 'replayed' }, { use: 'first' }])
})
