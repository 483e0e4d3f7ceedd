import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { refuseForeignHost, refuseForeignOrigin } from '../control/foreign-callers.ts'
import { from, named } from '../domain/described-schema.ts'
import { Problem } from '../domain/errors.ts'
import type { Origin } from '../domain/origin.ts'
import type { Chains } from '../domain/ports/chain.ts'
import { jsonExcess } from '../support/json-excess.ts'
import { shorten } from '../support/shorten.ts'
import { refuseUnlessReady } from './pipeline.ts'

const Params = Type.Object({ chain_id: Type.String({ examples: ['31337'] }) })

/** Methods that read, and the one that sends what its owner signed. Anvil's cheats stay out of reach. */
const OPEN_METHODS = /^(eth|net|web3)_/
const CLOSED_METHODS = /^eth_(sendTransaction|sendUnsignedTransaction|sign|accounts)/

/** Longest request body in bytes: batches of thousands of reads pass, and so does a state for `anvil_loadState`. */
const BODY_LIMIT = 10 * 1024 * 1024

/** Most values of a body: batches of thousands of calls pass. */
const MAX_VALUES = 100_000

const URL = '/rpc/:chain_id'

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
  operationId: 'json_rpc',
  summary: "A chain's JSON-RPC",
  security: [],
  params: Params,
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
  'chain_unavailable',
  'sandbox_starting',
] as const

export interface RpcDeps {
  chains: Chains
  /** Whether only this machine can reach the sandbox. Then everything is allowed, else reading and sending only. */
  local: boolean
  /** Where the sandbox is: its own pages may use it. */
  origin(): Origin
  /** Why the sandbox cannot serve yet; undefined when it can. */
  notReady(): string | undefined
}

/** A chain's JSON-RPC on the sandbox's own origin: it outlives the node. Never subject to faults, never recorded. */
export async function rpcProxy(app: FastifyInstance, { chains, local, origin, notReady }: RpcDeps): Promise<void> {
  app.addHook('onRequest', async (request) => {
    refuseForeignOrigin(request, origin())
    if (local) refuseForeignHost(request)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, async (_request: unknown, text: string) => text)
  app.post<{ Params: Static<typeof Params>; Body: string | undefined }>(
    URL,
    {
      schema: RPC_SCHEMA,
      config: { errors: RPC_ERRORS },
      // The schema describes; what is no request is answered in JSON-RPC's own words.
      validatorCompiler: () => () => true,
      bodyLimit: BODY_LIMIT,
    },
    async ({ params, body: text = '' }, reply) => {
      refuseUnlessReady(notReady())
      const chain = chains.get(params.chain_id)
      if (!chain) throw new Problem('not_found', { detail: 'There is no such chain.', param: 'chain_id' })
      const excess = jsonExcess(text, MAX_VALUES)
      if (excess !== undefined) return invalidRequest(`The body ${excess}.`)
      const body = parsed(text)
      if (!local) refuseCheats(body)
      const answer = await chain.relay(body)
      return answer === undefined ? reply.code(204).send() : reply.type('application/json').send(answer)
    },
  )
  app.route({
    method: ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    url: URL,
    schema: { hide: true },
    handler: ({ method }) => {
      const detail = `${method} is not allowed here; POST is, with JSON-RPC. There are no WebSockets.`
      throw new Problem('method_not_allowed', { detail, param: 'method', headers: { allow: 'POST' } })
    },
  })
}

/** A refusal in JSON-RPC's own words. */
function invalidRequest(message: string) {
  return { jsonrpc: '2.0', id: null, error: { code: -32600, message } }
}

/** Undefined for what is no JSON: that has an answer in JSON-RPC's own words. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refuseCheats(body: unknown): void {
  if (body === undefined) return
  for (const call of Array.isArray(body) ? body : [body]) {
    if (call === null || typeof call !== 'object') continue // no request at all: it has an error of its own
    const method: unknown = 'method' in call ? call.method : undefined
    if (typeof method === 'string' && OPEN_METHODS.test(method) && !CLOSED_METHODS.test(method)) continue
    throw new Problem('control_forbidden', {
      detail: `${shorten(String(method))} is not offered here.`,
      param: 'method',
    })
  }
}
