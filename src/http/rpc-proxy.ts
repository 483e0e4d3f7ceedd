import { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { refuseForeignHost, refuseForeignOrigin } from '../control/foreign-callers.ts'
import { isControlToken } from '../control/guard.ts'
import { from, named } from '../domain/described-schema.ts'
import { Problem } from '../domain/errors.ts'
import type { Origin } from '../domain/origin.ts'
import type { Chain } from '../domain/ports/chain.ts'
import { shorten } from '../support/foreign-text.ts'
import { jsonExcess, jsonObject } from '../support/json.ts'
import { type PipelineDeps, refuseUnlessReady, refuseWhileAway } from './pipeline.ts'
import { toProblem } from './problem.ts'
import type { RpcSockets, SocketChain } from './rpc-socket.ts'
import { ChainNews } from './rpc-subscriptions.ts'

const ChainId = Type.String({ examples: ['31337'] })
const Key = Type.Object({
  key: Type.Optional(
    Type.String({
      description:
        'What sending a transaction needs where others than this machine can reach the sandbox: rpc_urls of the credentials have it.',
    }),
  ),
})
const Namespace = Type.String({ description: 'Name of the namespace.', examples: ['pull-request-7'] })

/** Methods that read, and those that send transactions signed by their owner. Anvil's cheats stay out of reach. */
const OPEN_METHODS = /^(eth|net|web3)_/
const CLOSED_METHODS = /^eth_(sendTransaction|sendUnsignedTransaction|sign|accounts)/
/** Methods that need the key: gas is free, so a client that may send can take the markets' liquidity. */
const SENDING_METHODS = /^eth_send/
/** Methods that change the chain, which has to be stored. */
const CHANGING_METHODS = /^(eth_send|evm_|(anvil|hardhat|tenderly)_(?!dumpState|get|metadata|nodeInfo))/

/** Longest request body in bytes: enough for batches of thousands of reads, and for a state for `anvil_loadState`. */
const BODY_LIMIT = 10 * 1024 * 1024

/** Most values in a body: enough for batches of thousands of calls. */
const MAX_VALUES = 100_000

/** Each path with the particulars of its route. */
const ROUTES = [
  [
    '/rpc/:chain_id',
    { operationId: 'json_rpc', summary: "A chain's JSON-RPC", params: Type.Object({ chain_id: ChainId }) },
  ],
  [
    '/rpc/:namespace/:chain_id',
    {
      operationId: 'namespace_json_rpc',
      summary: "JSON-RPC of a namespace's chain",
      params: Type.Object({ namespace: Namespace, chain_id: ChainId }),
    },
  ],
] as const

const Id = Type.Unsafe<string | number | null>({ type: ['string', 'number', 'null'] })

const JsonRpcRequest = named(
  'JsonRpcRequest',
  Type.Object(
    {
      jsonrpc: Type.Literal('2.0'),
      id: Type.Optional(Id),
      method: Type.String(),
      params: Type.Optional(Type.Array(Type.Unknown())),
    },
    from('sandbox-routes'),
  ),
)

const JsonRpcAnswer = named(
  'JsonRpcAnswer',
  Type.Object(
    {
      jsonrpc: Type.Literal('2.0'),
      id: Id,
      result: Type.Optional(Type.Unknown()),
      error: Type.Optional(
        Type.Object({ code: Type.Integer(), message: Type.String(), data: Type.Optional(Type.Unknown()) }),
      ),
    },
    { description: 'With result or error.', ...from('sandbox-routes') },
  ),
)

const EXAMPLE = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }

const RPC_SCHEMA = {
  tags: ['Chain'],
  security: [],
  querystring: Key,
  body: Type.Union([JsonRpcRequest, Type.Array(JsonRpcRequest)], { examples: [EXAMPLE] }),
  response: {
    200: Type.Union([JsonRpcAnswer, Type.Array(JsonRpcAnswer)], { description: 'An answer to each call.' }),
    204: Type.Null({ description: 'Nobody wants an answer.' }),
  },
}

const RPC_ERRORS = [
  'control_forbidden',
  'not_found',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'chain_unavailable',
  'sandbox_starting',
  'service_unavailable',
] as const

/** A sandbox as the proxy sees it. */
export interface RpcSandbox {
  /** The namespace of that name, by default the one that every sandbox has. Throws Problem namespace_not_found. */
  namespace(name?: string): PipelineDeps | Promise<PipelineDeps>
  /** True if only this machine can reach the sandbox: then every method is allowed, otherwise reading, and sending with the key. */
  local: boolean
  /** Address of the sandbox, whose own pages may use it. */
  origin: Origin
  /** Milliseconds; see ResolvedOptions. */
  blockTime: number
  /** Answers a request for a WebSocket that is refused. */
  refuseSocket(socket: Duplex, error: unknown): void
}

/** Dependencies of {@link rpcProxy}. */
export interface RpcDeps {
  /** The sandbox that a request came to. */
  sandboxOf(request: IncomingMessage): RpcSandbox
}

/** Serves a chain's JSON-RPC on the sandbox's own origin, so that its URL outlives the node. Never subject to faults, never recorded. */
export async function rpcProxy(app: FastifyInstance, { sandboxOf }: RpcDeps): Promise<void> {
  serveSockets(app, sandboxOf)
  app.addHook('onRequest', async (request) => {
    const { local, origin } = sandboxOf(request.raw)
    refuseForeignOrigin(request, origin)
    if (local) refuseForeignHost(request)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, async (_request: unknown, text: string) => text)
  const relay: RouteHandlerMethod = async ({ params, query, body: text, raw }, reply) => {
    const { key } = query as { key?: unknown }
    // A request of this process to its own sandbox is not a client's.
    const isClient = raw instanceof IncomingMessage
    const sandbox = sandboxOf(raw)
    const { chain, maySend, storage } = await openChain({ ...(params as RpcParams), key, isClient }, sandbox)
    const caller = { local: sandbox.local, maySend, storage }
    const answer = await relayText(typeof text === 'string' ? text : '', chain, caller)
    return answer === undefined ? reply.code(204).send() : reply.type('application/json').send(answer)
  }
  for (const [url, about] of ROUTES) {
    const errors = [...RPC_ERRORS, ...(url === '/rpc/:chain_id' ? [] : (['namespace_not_found'] as const))]
    app.post(
      url,
      {
        schema: { ...RPC_SCHEMA, ...about },
        config: { errors },
        // The schema is for the description only; an invalid request gets an error of JSON-RPC itself.
        validatorCompiler: () => () => true,
        bodyLimit: BODY_LIMIT,
      },
      relay,
    )
    app.route({
      method: ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      url,
      schema: { hide: true },
      handler: refuseMethod,
    })
  }
}

interface RpcParams {
  namespace?: string | undefined
  chain_id: string
}

/** The chain that a caller names, as it may use it. Throws Problem if there is none, or it cannot be used yet. */
async function openChain(
  { namespace: name, chain_id, key, isClient }: RpcParams & { key: unknown; isClient: boolean },
  { namespace }: Pick<RpcSandbox, 'namespace'>,
) {
  const { service, exchanges, rpcKey, notReady, end, quota, storage } = await namespace(name)
  refuseUnlessReady(notReady())
  if (isClient) {
    quota?.admitRequest()
    exchanges.rpcAt = service.clock.wallNow()
  }
  const chain = service.chains.get(chain_id)
  if (!chain) throw new Problem('not_found', { detail: 'There is no such chain.', param: 'chain_id' })
  const maySend = rpcKey === undefined || (typeof key === 'string' && isControlToken(key, rpcKey))
  return { chain, maySend, storage, end, clock: service.clock }
}

function refuseMethod({ method }: FastifyRequest): never {
  const detail = `${method} is not allowed here; POST is, with JSON-RPC, or a WebSocket.`
  throw new Problem('method_not_allowed', { detail, param: 'method', headers: { allow: 'POST' } })
}

/** Serves the same over WebSockets. What they need is loaded when the first one is asked for. */
function serveSockets(app: FastifyInstance, sandboxOf: RpcDeps['sandboxOf']): void {
  const news = new WeakMap<Chain, ChainNews>()
  let sockets: Promise<RpcSockets> | undefined
  const admit = async (request: IncomingMessage, socket: Duplex): Promise<SocketChain | null> => {
    const sandbox = sandboxOf(request)
    try {
      return await chainFor(request, socket, sandbox, news)
    } catch (error) {
      sandbox.refuseSocket(socket, error)
      return null
    }
  }
  app.server.on('upgrade', (request, socket, head) => {
    sockets ??= import('./rpc-socket.ts').then(({ RpcSockets }) => new RpcSockets({ admit }))
    sockets.then((open) => open.upgrade(request, socket, head)).catch(() => socket.destroy())
  })
  app.addHook('preClose', async () => (await sockets)?.close())
}

const SOCKET_PATH = /^\/rpc\/(?:([^/?]+)\/)?([^/?]+)(?:\?(.*))?$/

/** The chain that a request for a WebSocket names. Throws Problem if it is refused. */
async function chainFor(
  { headers, url = '' }: IncomingMessage,
  socket: Duplex,
  sandbox: RpcSandbox,
  news: WeakMap<Chain, ChainNews>,
): Promise<SocketChain> {
  const { local, origin, blockTime } = sandbox
  refuseForeignOrigin({ headers, protocol: 'encrypted' in socket ? 'https' : 'http' }, origin)
  if (local) refuseForeignHost({ headers })
  const [, namespace, chain_id = '', query] = SOCKET_PATH.exec(url) ?? []
  const key = new URLSearchParams(query).get('key')
  const open = () => openChain({ namespace, chain_id, key, isClient: true }, sandbox)
  const { chain, end, clock } = await open()
  const shared = news.get(chain) ?? new ChainNews(chain, { wallSleep: (ms) => clock.wallSleep(ms), blockTime })
  news.set(chain, shared)
  return {
    end,
    news: shared,
    // The namespace may be another one by now, or gone.
    answer: async (text) => {
      try {
        const { chain, maySend, storage } = await open()
        const answer = await relayText(text, chain, { local, maySend, storage })
        return typeof answer === 'object' ? JSON.stringify(answer) : answer
      } catch (error) {
        return refusal(text, toProblem(error))
      }
    },
  }
}

/** The error of a call that is refused as a POST would be. */
function refusal(text: string, { details: { detail } }: Problem): string {
  return JSON.stringify({ jsonrpc: '2.0', id: jsonObject(text)?.id ?? null, error: { code: -32_000, message: detail } })
}

/** The chain's answer to a body; undefined if the client expects none. */
async function relayText(text: string, chain: Chain, caller: Caller): Promise<string | object | undefined> {
  const excess = jsonExcess(text, MAX_VALUES)
  if (excess !== undefined) return invalidRequest(`The body ${excess}.`)
  const body = parsed(text)
  if (!caller.local) refuseUnlessOpen(body, caller)
  if (caller.storage?.awaySince !== undefined && changesChain(body)) refuseWhileAway(caller.storage)
  return chain.relay(body)
}

/** A refusal as a JSON-RPC error. */
function invalidRequest(message: string) {
  return { jsonrpc: '2.0', id: null, error: { code: -32600, message } }
}

/** Undefined for text that is not JSON: the chain answers it with a JSON-RPC error. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Rights of the caller. */
interface Caller {
  local: boolean
  maySend: boolean
  /** Of the chain's namespace. */
  storage: PipelineDeps['storage']
}

/** @returns true if a body has a call that changes the chain */
function changesChain(body: unknown): boolean {
  return [body].flat().some((call) => CHANGING_METHODS.test(String((call as { method?: unknown } | null)?.method)))
}

function refuseUnlessOpen(body: unknown, { maySend }: Caller): void {
  if (body === undefined) return
  for (const call of Array.isArray(body) ? body : [body]) {
    if (call === null || typeof call !== 'object') continue // not a JSON-RPC request: it gets an error of its own
    const method: unknown = 'method' in call ? call.method : undefined
    if (typeof method !== 'string' || !OPEN_METHODS.test(method) || CLOSED_METHODS.test(method)) {
      const detail = `${shorten(String(method))} is not offered here.`
      throw new Problem('control_forbidden', { detail, param: 'method' })
    }
    if (maySend || !SENDING_METHODS.test(method)) continue
    const detail = 'Sending transactions needs the whole RPC URL, with its key: rpc_urls of GET /_sandbox/credentials.'
    throw new Problem('control_forbidden', { detail, param: 'key' })
  }
}
