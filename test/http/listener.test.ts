import { once } from 'node:events'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import fastify, { type FastifyInstance } from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Listener, type ListenOptions } from '../../src/http/listener.ts'
import { selfSigned } from '../../src/tls/server-certificate.ts'

const REQUEST = 'GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

async function listening(options: Partial<ListenOptions> = {}): Promise<Listener> {
  const listener = await Listener.open({ host: undefined, port: 0, publicUrl: undefined, tls: undefined, ...options })
  onTestFinished(() => listener.close())
  return listener
}

function hello(https?: { cert: string; key: string }): FastifyInstance {
  const app: FastifyInstance = https ? (fastify({ https }) as unknown as FastifyInstance) : fastify()
  app.get('/hello', async () => 'hello')
  return app
}

const portOf = ({ origin }: Listener) => Number(new URL(origin.url).port)

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  let text = ''
  for await (const chunk of stream) text += chunk
  return text
}

describe('whoever connects before an application is there waits for it', () => {
  test.each(['127.0.0.1', '::1'])('on %s', async (host) => {
    const listener = await listening()
    const early = connect({ host, port: portOf(listener) })
    early.write(REQUEST)
    await once(early, 'connect')
    await listener.serve(hello())
    expect(await textOf(early)).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*hello$/)
    const late = connect({ host, port: portOf(listener) })
    late.write(REQUEST)
    expect(await textOf(late)).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*hello$/)
  })

  test.each(['127.0.0.1', '::1'])('under https on %s', async (host) => {
    const certificate = await selfSigned({ names: ['localhost'], directory: undefined, now: Date.now() })
    onTestFinished(() => certificate.discard())
    const listener = await listening({ tls: 'self-signed' })
    expect(listener.origin.url).toMatch(/^https:/)
    const options = { host, port: portOf(listener), rejectUnauthorized: false }
    const early = connectTls(options)
    early.write(REQUEST)
    await once(early, 'connect')
    await listener.serve(hello(certificate))
    expect(await textOf(early)).toMatch(/hello$/)
    const late = connectTls(options)
    late.write(REQUEST)
    expect(await textOf(late)).toMatch(/hello$/)
  })

  test('and is let go if none comes', async () => {
    const listener = await listening()
    const socket = connect(portOf(listener), '127.0.0.1')
    await once(socket, 'connect')
    const closed = once(socket.on('error', () => undefined).resume(), 'close')
    await listener.close()
    await closed
    await expect(once(connect(portOf(listener), '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED')
  })
})

test('the address that it listens on is not the public one', async () => {
  const { url, origin } = await listening({ host: '127.0.0.1', publicUrl: 'https://sandbox.acme.test' })
  expect([url, origin.url]).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/), 'https://sandbox.acme.test'])
})

test('an address that is taken is refused, and nothing listens then', async () => {
  const taken = await listening({ host: '::1' })
  const port = portOf(taken)
  await expect(listening({ port })).rejects.toThrow('EADDRINUSE')
  await expect(once(connect(port, '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED')
})

test('slow clients are looked after, as by any server of Node that listens itself', async () => {
  const listener = await listening()
  const app = hello()
  await listener.serve(app)
  expect(app.server.listening).toBe(true)
})

describe('a second address', () => {
  test.each([
    ['of its own, at the same port', '127.0.0.2', (port: number) => `http://127.0.0.2:${port}`],
    // As on macOS, which has no 127.0.0.2.
    ['that the machine does not have, at another port', '192.0.2.1', undefined],
    ['that is taken, at another port', '127.0.0.1', undefined],
  ])('%s', async (_, host, expected) => {
    const listener = await listening({ host: '127.0.0.1' })
    const { origin } = listener
    const first = origin.url
    if (!expected) await listener.serve(hello())
    const second = await listener.openBeside(host)
    if (expected) await listener.serve(hello())
    if (expected) expect(second).toBe(expected(portOf(listener)))
    else expect(second).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(second).not.toBe(first)
    expect(origin.url).toBe(first)
    expect(origin.under(new URL(second).host)).toBe(second)
    for (const url of [first, second]) expect(await (await fetch(`${url}/hello`)).text()).toBe('hello')
    await listener.close()
    await expect(fetch(`${second}/hello`)).rejects.toThrow('fetch failed')
  })
})
