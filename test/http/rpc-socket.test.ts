import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { createPublicClient, parseAbiItem, webSocket } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { Chain } from '../../src/domain/ports/chain.ts'
import { ChainNews } from '../../src/http/rpc-subscriptions.ts'
import type { SandboxHandle } from '../../src/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { Partner, testNamespace, testSandbox } from '../helpers/partner.ts'

let sandbox: SandboxHandle
let url: string
beforeAll(async () => {
  sandbox = await testNamespace()
  const { rpc_urls } = await sandbox.credentials()
  url = rpc_urls['31337']!.replace('http', 'ws')
})
afterAll(() => sandbox.stop())

/** A connection that keeps what comes. */
class Socket {
  readonly client: WebSocket
  readonly messages: {
    id?: number
    result?: unknown
    error?: { code: number; message: string }
    params?: { subscription: string; result: Record<string, string> }
  }[] = []
  closed: { code: number; reason: string } | undefined
  #asked = 0

  constructor(address: string, headers: Record<string, string> = {}) {
    this.client = new WebSocket(address, { headers })
    this.client.on('message', (data) => this.messages.push(JSON.parse(String(data))))
    this.client.on('close', (code, reason) => {
      this.closed = { code, reason: String(reason) }
    })
  }

  opened(): Promise<void> {
    return new Promise((done, fail) => {
      this.client.on('open', () => done())
      this.client.on('unexpected-response', (_, { statusCode }) => fail(new Error(`${statusCode}`)))
      this.client.on('error', fail)
    })
  }

  async ask(method: string, ...params: unknown[]) {
    const id = ++this.#asked
    this.client.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return eventually(() => {
      const answer = this.messages.find((one) => one.id === id)
      expect(answer).toBeDefined()
      return answer!
    })
  }

  /** What came for a subscription. */
  of(subscription: unknown): Record<string, string>[] {
    return this.messages.flatMap(({ params }) =>
      params && params.subscription === subscription ? [params.result] : [],
    )
  }
}

const sockets: Socket[] = []
afterEach(() => {
  for (const { client } of sockets.splice(0)) client.terminate()
})

async function opened(address = url, headers?: Record<string, string>): Promise<Socket> {
  const socket = new Socket(address, headers)
  sockets.push(socket)
  await socket.opened()
  return socket
}

test('a client of viem reads, watches blocks and logs, and waits for confirmations', async () => {
  const acme = new Partner(sandbox)
  const portfolio = await acme.open('carol')
  const client = createPublicClient({ transport: webSocket(url, { reconnect: false }) })
  expect(await client.getChainId()).toBe(31337)
  const blocks: bigint[] = []
  const transfers: string[] = []
  const event = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')
  const unwatch = [
    client.watchBlocks({ onBlock: ({ number }) => void blocks.push(number) }),
    client.watchEvent({
      event,
      onLogs: (logs) => void transfers.push(...logs.map(({ transactionHash }) => transactionHash)),
    }),
  ]
  const { body } = await eventually(async () => {
    const deposit = await acme.deposit('carol', portfolio, '1000000')
    expect(deposit.status).toBe(200)
    await expect.poll(() => transfers).toContain(deposit.body.tx_hash)
    return deposit
  })
  const receipt = await client.waitForTransactionReceipt({ hash: body.tx_hash, confirmations: 2 })
  expect(receipt.status).toBe('success')
  // viem asks for each block that is announced before it hands it out.
  await expect.poll(() => blocks.length).toBeGreaterThan(1)
  for (const end of unwatch) end()
  ;(await client.transport.getRpcClient()).close()
})

test('newHeads come one after another, with transfers and without', async () => {
  const socket = await opened()
  const { result: heads } = await socket.ask('eth_subscribe', 'newHeads')
  await sandbox.clock.advance('1h')
  await expect.poll(() => socket.of(heads).length).toBeGreaterThan(0)
  await sandbox.clock.advance('1h')
  await expect.poll(() => socket.of(heads).length).toBeGreaterThan(1)
  const numbers = socket.of(heads).map(({ number }) => Number(number))
  expect(numbers).toEqual(numbers.map((_, i) => numbers[0]! + i))
  expect((await socket.ask('eth_unsubscribe', heads)).result).toBe(true)
  expect((await socket.ask('eth_unsubscribe', heads)).result).toBe(false)
})

test('logs are those that fit, of the block that stands in the end', async () => {
  const acme = new Partner(sandbox)
  const portfolio = await acme.open('dora')
  const socket = await opened()
  const { token_address: token } = await acme.pool('aave-usdc')
  const { result: fitting } = await socket.ask('eth_subscribe', 'logs', { address: token })
  const { result: others } = await socket.ask('eth_subscribe', 'logs', { address: `0x${'1'.repeat(40)}` })
  await sandbox.faults.add({ kind: 'reorg', match: { operation: 'deposit' } })
  const { body } = await acme.deposit('dora', portfolio, '1000000')
  const { blockHash } = await sandbox.chain.getTransactionReceipt({ hash: body.tx_hash })
  await expect.poll(() => socket.of(fitting).filter((log) => log.blockHash === blockHash).length).toBeGreaterThan(0)
  const addresses = socket.of(fitting).map(({ address }) => address)
  expect(new Set(addresses)).toEqual(new Set([token!.toLowerCase()]))
  expect(socket.of(others)).toEqual([])
})

test('logs of a block that is replaced are taken back', async () => {
  const blocks = [
    { number: '0x5', hash: '0xa', logs: [{ logIndex: '0x0', blockHash: '0xa' }] },
    { number: '0x5', hash: '0xb', logs: [{ logIndex: '0x0', blockHash: '0xb' }] },
    { number: '0x6', hash: '0xc', logs: [] },
  ]
  let watcher: ((number: number) => void) | undefined
  let latest = blocks[0]!
  const chain = {
    watch: (given: typeof watcher) => {
      watcher = given
      return () => {
        watcher = undefined
      }
    },
    relay: async ({ method }: { method: string }) => {
      const { logs, ...block } = latest
      return JSON.stringify({ result: method === 'eth_getLogs' ? logs : block })
    },
  } as unknown as Chain
  const seen: object[] = []
  const forever = new Promise(() => undefined)
  const end = new ChainNews(chain, { wallSleep: () => forever, blockTime: 1 }).logs({}, (log) => seen.push(log))
  for (const block of blocks) {
    latest = block
    watcher?.(Number(block.number))
    await expect.poll(() => (block.logs[0] ? seen : [block]).length).toBeGreaterThan(0)
    await new Promise(setImmediate)
  }
  expect(seen).toEqual([
    { logIndex: '0x0', blockHash: '0xa' },
    { logIndex: '0x0', blockHash: '0xa', removed: true },
    { logIndex: '0x0', blockHash: '0xb' },
  ])
  end()
  expect(watcher).toBeUndefined()
})

test('a namespace that is deleted takes its subscriptions along, and its connections', async () => {
  await using shared = await testSandbox()
  const mine = await shared.namespaces.create({ name: 'mine' })
  const { rpc_urls } = await mine.credentials()
  const socket = await opened(rpc_urls['31337']!.replace('http', 'ws'))
  const { result: heads } = await socket.ask('eth_subscribe', 'newHeads')
  await mine.clock.advance('1h')
  await expect.poll(() => socket.of(heads).length).toBeGreaterThan(0)
  await mine.stop()
  await expect.poll(() => socket.closed).toEqual({ code: 1001, reason: 'the namespace has ended' })
  // Another one of that name is another one: nothing of it comes to those who knew the first.
  const again = await shared.namespaces.create({ name: 'mine' })
  const { length } = socket.messages
  await again.clock.advance('1h')
  const other = await opened(rpc_urls['31337']!.replace('http', 'ws'))
  const { result: others } = await other.ask('eth_subscribe', 'newHeads')
  await again.clock.advance('1h')
  await expect.poll(() => other.of(others).length).toBeGreaterThan(0)
  expect(socket.messages).toHaveLength(length)
})

test('nobody asks a chain for blocks when its last subscription has ended', async () => {
  const slept: (() => void)[] = []
  const chain = { watch: () => () => undefined, relay: vi.fn(async () => '{}') } as unknown as Chain
  const wallSleep = () => new Promise<void>((done) => slept.push(done))
  const end = new ChainNews(chain, { wallSleep, blockTime: 1 }).heads(() => undefined)
  await expect.poll(() => slept).toHaveLength(1)
  slept[0]!()
  await expect.poll(() => slept).toHaveLength(2)
  end()
  slept[1]!()
  await new Promise(setImmediate)
  expect(slept).toHaveLength(2)
})

describe('what cannot be', () => {
  test.each([
    [{ origin: 'https://evil.example' }, '403'],
    [{ host: 'evil.example' }, '403'],
  ])('a web page is refused: %j', async (headers, status) => {
    const socket = new Socket(url, headers as Record<string, string>)
    await expect(socket.opened()).rejects.toThrow(status)
  })

  test.each([
    ['/rpc/1', '404'],
    ['/rpc/nobody/31337', '404'],
  ])('%s is refused with %s', async (path, status) => {
    await expect(new Socket(`${new URL(url).origin}${path}`).opened()).rejects.toThrow(status)
  })

  test('calls are refused as by POST, subscriptions by what is offered', async () => {
    const socket = await opened()
    expect((await socket.ask('eth_subscribe', 'newPendingTransactions')).error).toMatchObject({ code: -32_602 })
    expect((await socket.ask('anvil_reorg')).error?.message).toContain('fault "reorg"')
    expect((await socket.ask('eth_nothing')).error).toBeDefined()
    socket.client.send('{')
    await expect.poll(() => socket.messages.some(({ error }) => error?.code === -32_700)).toBe(true)
    for (let i = 0; i < 32; i++) await socket.ask('eth_subscribe', 'newHeads')
    expect((await socket.ask('eth_subscribe', 'newHeads')).error?.message).toMatch(/32 subscriptions/)
  })

  test('a client that asks without reading answers is sent away', async () => {
    const socket = await opened()
    for (let i = 0; i < 200; i++) socket.client.send('{"jsonrpc":"2.0","id":0,"method":"eth_chainId"}')
    await expect.poll(() => socket.closed?.code).toBe(1008)
  })

  test('from outside of this machine sending needs the key, and no method of Anvil is open', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    await new Promise((done) => taken.close(done))
    await using guarded = await testSandbox({ port, publicUrl: 'http://sandbox.example', controlToken: 'local-only' })
    expect(guarded.baseUrl).toBe('http://sandbox.example')
    const socket = await opened(`ws://127.0.0.1:${port}/rpc/31337`)
    expect((await socket.ask('eth_chainId')).result).toBe('0x7a69')
    expect((await socket.ask('eth_sendRawTransaction', '0x')).error?.message).toMatch(/needs the whole RPC URL/)
    expect((await socket.ask('anvil_mine')).error?.message).toMatch(/anvil_mine is not offered/)
  })
})

test('another upgrade is a request like others, and its body is read', async () => {
  const acme = new Partner(sandbox)
  const portfolio = await acme.open('erin')
  const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAEAAEAA' }
  expect((await acme.deposit('erin', portfolio, '1000000', { headers })).status).toBe(200)
  const { host, port, hostname } = new URL(url)
  const answer = await new Promise<string>((done) => {
    const raw = connect(Number(port), hostname, () => {
      raw.write(`GET /rpc/31337 HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`)
    })
    raw.once('data', (data) => {
      raw.destroy()
      done(String(data))
    })
  })
  expect(answer).toMatch(/^HTTP\/1.1 405 /)
})
