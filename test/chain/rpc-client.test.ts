import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { RpcClient } from '../../src/chain/json-rpc/rpc-client.ts'
import { ChainUnavailableError } from '../../src/domain/ports/chain.ts'
import { BodyTooLargeError } from '../../src/support/read-body.ts'

/** An answer to the first call of a client. */
const OWN = '{"jsonrpc":"2.0","id":1,"result":"0x1"}'

describe("a node's client", () => {
  let server: Server | undefined
  let rpc: RpcClient | undefined
  afterEach(() => {
    rpc?.close()
    server?.close()
    server?.closeAllConnections()
  })

  /** What stands for a node: an Anvil cannot be made to answer like that. */
  async function clientOf(answer: (response: ServerResponse) => void, timeout = 2_000): Promise<RpcClient> {
    server = createServer((request, response) => request.resume().on('end', () => answer(response)))
    server.keepAliveTimeout = 0 // only the client closes connections
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    rpc = new RpcClient({ chainId: '31337', url: `http://127.0.0.1:${port}`, timeout })
    return rpc
  }

  const openConnections = () => new Promise((resolve) => server?.getConnections((_, count) => resolve(count)))

  it('cuts off a relayed answer that is too long as soon as its length is known, and is none the worse for it', async () => {
    let ended = 0
    const client = await clientOf((response) => {
      response.on('close', () => ended++).writeHead(200, { 'content-length': 1_000_001 })
      response.write('x')
    })
    await expect(client.relay('{}', 1_000_000)).rejects.toThrow(BodyTooLargeError)
    await expect.poll(() => ended).toBe(1)
    expect(client.failure).toBeUndefined()
  })

  it('relays an answer of the longest permitted length, in whatever pieces it comes', async () => {
    const text = 'ä'.repeat(500_000)
    const client = await clientOf((response) => {
      response.writeHead(200, { 'content-length': 1_000_000 })
      const bytes = Buffer.from(text)
      const from = (start: number) => {
        if (start >= bytes.length) response.end()
        else response.write(bytes.subarray(start, start + 99_999), () => void setImmediate(start + 99_999).then(from))
      }
      from(0)
    })
    expect(await client.relay('{}', 1_000_000)).toBe(text)
    expect(await client.relay('{}', 1_000_000)).toBe(text)
  })

  it('opens no more than 32 connections, uses each again, and passes over a call that was given up while it waited for one', async () => {
    const asked: ServerResponse[] = []
    const client = await clientOf((response) => void asked.push(response))
    let connections = 0
    server?.on('connection', () => connections++)
    const first = Array.from({ length: 40 }, () => client.call('eth_chainId').catch((error: Error) => error.message))
    await expect.poll(() => asked.length).toBe(32)
    const release = client.hold('it was held')
    expect(new Set(await Promise.all(first)).size).toBe(1)
    release()
    expect(asked.length).toBe(32)
    for (const id of [41, 42, 43]) {
      const call = client.call('eth_chainId')
      await expect.poll(() => asked.length).toBe(id - 8)
      asked.at(-1)?.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }))
      expect(await call).toBe('0x1')
    }
    expect(connections).toBe(33)
    expect(client.failure).toBeUndefined()
  })

  it('gives a call up on a connection that was idle for longer than that', async () => {
    let answers = 1
    const client = await clientOf((response) => {
      if (answers-- > 0) response.end(OWN)
    }, 100)
    let connections = 0
    server!.on('connection', (socket) => {
      connections++
      socket.setTimeout(200)
    })
    const idle = once(server!, 'timeout')
    expect(await client.call('eth_chainId')).toBe('0x1')
    await idle
    await expect(client.call('eth_chainId')).rejects.toThrow('no answer within 100 ms')
    expect(connections).toBe(1)
  })

  it('answers itself while relayed calls take up all their connections', async () => {
    let waiting = 0
    const client = await clientOf((response) => {
      if (++waiting > 40) response.end(OWN)
    })
    const relayed = Array.from({ length: 64 }, () => client.relay('{}', 1_000).catch(() => 'given up'))
    await expect.poll(() => waiting).toBe(32)
    waiting = 40
    expect(await client.call('eth_chainId')).toBe('0x1')
    client.close()
    await Promise.all(relayed)
  })

  it('takes a failure of an earlier node, however late, for none of the present one, and remembers that a call was given up', async () => {
    const asked: ServerResponse[] = []
    const client = await clientOf((response) => void asked.push(response))
    const { port } = server!.address() as AddressInfo
    const late = client.call('eth_chainId')
    await expect.poll(() => asked.length).toBe(1)
    const left = client.moveTo(`http://127.0.0.1:${port}/`)
    asked[0]?.destroy()
    await expect(late).rejects.toThrow(ChainUnavailableError)
    await left
    expect(client.failure).toBeUndefined()
    expect(client.idle).toBe(true)
    const own = client.call('eth_chainId')
    await expect.poll(() => asked.length).toBe(2)
    expect(client.idle).toBe(false)
    asked[1]?.destroy()
    await expect(own).rejects.toThrow(ChainUnavailableError)
    expect(client.failure).not.toBeUndefined()
    expect(client.idle).toBe(false)
  })

  it('leaves the connections to an earlier node, those in use when they are not any more', async () => {
    const asked: ServerResponse[] = []
    const client = await clientOf((response) => void asked.push(response))
    const url = `http://127.0.0.1:${(server!.address() as AddressInfo).port}/`
    const both = [client.relay('{}', 1_000), client.relay('{}', 1_000), client.call('eth_chainId')]
    await expect.poll(() => asked.length).toBe(3)
    asked[0]?.end(OWN)
    await Promise.race(both)
    const left = client.moveTo(url)
    await expect.poll(openConnections).toBe(2)
    asked[1]?.end(OWN)
    asked[2]?.end(OWN)
    await left
    await expect.poll(openConnections).toBe(0)
    expect(await Promise.all(both)).toEqual(expect.arrayContaining(['0x1']))
  })

  it('connects again when the node has closed an idle connection', async () => {
    const client = await clientOf((response) => response.end(OWN))
    await client.relay('{}', 1_000)
    await expect
      .poll(() => {
        server!.closeIdleConnections()
        return openConnections()
      })
      .toBe(0)
    for (let turn = 0; turn < 10; turn++) await setImmediate() // until the client has heard of it
    expect(await client.relay('{}', 1_000)).toBe(OWN)
  })

  it('says why it cannot connect', async () => {
    const client = await clientOf(() => {})
    server!.close()
    await expect(client.call('eth_chainId')).rejects.toThrow('ECONNREFUSED')
  })

  it.each([1, 2])('takes no answer for that of the next call (the second comes in packet %d)', async (packet) => {
    const answer = (id: number, result: string) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id, result })
      return `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    }
    const further = answer(2, 'that of nobody')
    const sockets: Socket[] = []
    const raw = createTcpServer((socket) => {
      const own = answer(sockets.push(socket), '0x1')
      socket.on('error', () => {}).once('data', () => socket.write(packet === 1 ? own + further : own))
    }).listen(0, '127.0.0.1')
    await once(raw, 'listening')
    const { port } = raw.address() as AddressInfo
    rpc = new RpcClient({ chainId: '31337', url: `http://127.0.0.1:${port}`, timeout: 2_000 })
    expect(await rpc.call('eth_chainId')).toBe('0x1')
    if (packet === 2) sockets[0]?.write(further)
    const open = () => new Promise((resolve) => raw.getConnections((_, count) => resolve(count)))
    await expect.poll(open).toBe(0)
    expect(await rpc.call('eth_chainId')).toBe('0x1')
    raw.close()
  })

  it('is closed with the calls to an earlier node that are under way', async () => {
    const asked: ServerResponse[] = []
    const client = await clientOf((response) => void asked.push(response))
    const { port } = server!.address() as AddressInfo
    const calls: Promise<unknown>[] = [client.call('eth_chainId')]
    await expect.poll(() => asked.length).toBe(1)
    const left = client.moveTo(`http://127.0.0.1:${port}/`)
    calls.push(client.call('eth_chainId'), client.relay('{}', 1_000))
    await expect.poll(() => asked.length).toBe(3)
    const failed = calls.map((call) => expect(call).rejects.toThrow('the connection was closed'))
    client.close()
    await Promise.all([...failed, left])
  })

  it.each<[string, (response: ServerResponse) => void]>([
    ['no JSON', (response) => response.end('<html>')],
    ['an error of HTTP', (response) => response.writeHead(500, { 'content-length': OWN.length }).end(OWN)],
    [
      'half an answer',
      (response) => response.writeHead(200, { 'content-length': 99 }).write('{', () => response.destroy()),
    ],
    ['an answer without its length', (response) => void response.write('{}')],
    ['nothing', () => {}],
    ['a list of another length', (response) => response.end('[]')],
  ])('takes %s for an outage', async (_, answer) => {
    const client = await clientOf(answer)
    await expect(client.call('eth_chainId')).rejects.toThrow(ChainUnavailableError)
    expect(client.failure).not.toBeUndefined()
  })
})
