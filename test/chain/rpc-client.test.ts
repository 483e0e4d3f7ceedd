import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { RpcClient } from '../../src/chain/json-rpc/rpc-client.ts'
import { ChainUnavailableError } from '../../src/domain/ports/chain.ts'
import { BodyTooLargeError } from '../../src/support/read-body.ts'

describe("a node's client", () => {
  let server: Server | undefined
  let rpc: RpcClient | undefined
  afterEach(() => {
    rpc?.close()
    server?.close()
    server?.closeAllConnections()
  })

  /** What stands for a node: an Anvil cannot be made to answer like that. */
  async function clientOf(answer: (response: ServerResponse) => void): Promise<RpcClient> {
    server = createServer((request, response) => request.resume().on('end', () => answer(response)))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    rpc = new RpcClient({ chainId: '31337', url: `http://127.0.0.1:${port}`, timeout: 2_000 })
    return rpc
  }

  it('cuts off a relayed answer that is too long, and is none the worse for it', async () => {
    const client = await clientOf((response) => {
      const more = () => void (response.destroyed || response.write('x'.repeat(64 * 1024), more))
      more()
    })
    await expect(client.relay('{}', 1_000_000)).rejects.toThrow(BodyTooLargeError)
    expect(client.failure).toBeUndefined()
  })

  it('answers itself while relayed calls take up all their connections', async () => {
    let waiting = 0
    const client = await clientOf((response) => {
      if (++waiting > 40) response.end('{"jsonrpc":"2.0","id":1,"result":"0x1"}')
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

  it.each<[string, (response: ServerResponse) => void]>([
    ['no JSON', (response) => response.end('<html>')],
    ['an error of HTTP', (response) => response.writeHead(500).end('{}')],
    ['half an answer', (response) => response.write('{"jsonrpc"', () => response.destroy())],
    ['nothing', () => {}],
    ['a list of another length', (response) => response.end('[]')],
  ])('takes %s for an outage', async (_, answer) => {
    const client = await clientOf(answer)
    await expect(client.call('eth_chainId')).rejects.toThrow(ChainUnavailableError)
    expect(client.failure).not.toBeUndefined()
  })
})
