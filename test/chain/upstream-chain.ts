import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { toFunctionSelector } from 'viem/utils'
import { genesisOf } from '../../src/chain/history/checkpoint.ts'
import { embeddedCheckpoint, embeddedMarket } from '../../src/chain/markets/embedded-market.ts'
import { AnvilProcess } from '../../src/chain/node/anvil-process.ts'
import type { EmbeddedMarket } from '../../src/domain/chain-setup.ts'
import { SandboxClock } from '../../src/domain/clock.ts'
import type { Hex } from '../../src/domain/records.ts'
import { rpc, silent } from './chain-fixture.ts'

/** How the upstream's front answers; `slow` takes 50 ms for each answer, `down` drops connections. */
export type Mood =
  | 'well'
  | 'slow'
  | 'down'
  | 'limited'
  | 'html'
  | 'pruned'
  | 'stateless'
  | 'lagging'
  | 'throttled'
  | 'empty'

const KEY = 'v3-secret-key-0123456789'

/** What is answered instead of state. */
const STATELESS: Partial<Record<Mood, object>> = {
  stateless: { error: { code: -32000, message: `missing trie node 5c5c /${KEY} <nil>` } },
  lagging: { error: { code: -32000, message: 'header not found' } },
  throttled: { error: { code: -32005, message: 'daily request count exceeded' } },
  empty: { result: null },
}
const STATE = /^eth_get(Balance|Code|StorageAt|TransactionCount|AccountInfo)$/

/** What stands for a real chain: the genuine market on an Anvil of its own, behind a front that can misbehave. */
export interface UpstreamChain {
  /** With a key in its path, which nothing may show. */
  url: string
  key: string
  market: EmbeddedMarket
  /** Requests that reached the front. */
  readonly requests: number
  /** The Anvil itself, for looking behind the front. */
  anvilUrl: string
  be(mood: Mood): void
  /** Drops the next request that holds this text. */
  dropNext(text: string): void
  stop(): Promise<void>
}

const INITIAL_RATE = toFunctionSelector('initialRate()').slice(2)

/** Starts one of a chain id, whose blocks have base fees, and whose vaults tell no rate. */
export async function startUpstream(chainId: string): Promise<UpstreamChain> {
  const market = await embeddedMarket()
  const clock = new SandboxClock()
  const genesis = genesisOf(await embeddedCheckpoint(), chainId)
  const anvil = await AnvilProcess.start({
    chainId,
    genesis,
    flags: ['--timestamp', '1735689602', '--max-persisted-states', '0'],
    clock,
    log: silent,
  })
  for (const vault of Object.values(market.vaults)) await hideRate(anvil.url, vault)
  await rpc(anvil.url, 'anvil_setNextBlockBaseFeePerGas', '0x3b9aca00')
  await rpc(anvil.url, 'evm_mine')
  const state = { mood: 'well' as Mood, requests: 0, drop: undefined as string | undefined }
  const server = createServer(async (request, response) => {
    state.requests++
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (request.url !== `/${KEY}`) return response.writeHead(403).end()
    const body = Buffer.concat(chunks).toString()
    if (state.drop !== undefined && body.includes(state.drop)) {
      state.drop = undefined
      return response.destroy()
    }
    await answer(state.mood, body, anvil.url, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${KEY}`,
    key: KEY,
    market,
    get requests() {
      return state.requests
    },
    anvilUrl: anvil.url,
    be(mood) {
      state.mood = mood
    },
    dropNext(text) {
      state.drop = text
    },
    async stop() {
      server.close()
      server.closeAllConnections()
      await anvil.stop()
    },
  }
}

async function answer(mood: Mood, body: string, anvil: string, response: ServerResponse): Promise<void> {
  if (mood === 'down') return void response.destroy()
  if (mood === 'slow') await setTimeout(50)
  if (mood === 'limited') return void response.writeHead(429).end('slow down')
  if (mood === 'html') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Login</html>')
  const { id, method } = JSON.parse(body) as { id: number; method: string }
  response.setHeader('content-type', 'application/json')
  if (mood === 'pruned' && method === 'eth_getCode') {
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: `missing trie node /${KEY}` } }))
    return
  }
  const instead = STATELESS[mood]
  if (instead && STATE.test(method)) return void response.end(JSON.stringify({ jsonrpc: '2.0', id, ...instead }))
  const upstream = await fetch(anvil, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  response.end(await upstream.text())
}

/** Real vaults have no `initialRate()` and `rate()`: without the first, the second is not believed. */
async function hideRate(url: string, vault: string): Promise<void> {
  const code = await rpc<Hex>(url, 'eth_getCode', vault, 'latest')
  if (!code.includes(INITIAL_RATE)) throw new Error('the vault has another interface')
  await rpc(url, 'anvil_setCode', vault, code.replaceAll(INITIAL_RATE, '9e51051e'))
}
