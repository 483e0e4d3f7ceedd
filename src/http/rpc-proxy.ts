import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { Problem } from '../domain/errors.ts'
import { type Chains, ChainUnavailableError } from '../domain/ports/chain.ts'

const Params = Type.Object({ chain_id: Type.String() })

/** Methods that read, and the one that sends what its owner signed. Anvil's cheats stay out of reach. */
const OPEN_METHODS = /^(eth|net|web3)_/
const CLOSED_METHODS = /^eth_(sendTransaction|sendUnsignedTransaction|sign|accounts)/

/**
 * A chain's JSON-RPC on the sandbox's own origin, for callers who cannot reach Anvil's loopback address: outside a
 * container only this port is published.
 */
export async function rpcProxy(app: FastifyInstance, { chains }: { chains: Chains }): Promise<void> {
  app.post<{ Params: Static<typeof Params>; Body: unknown }>(
    '/rpc/:chain_id',
    { schema: { hide: true, params: Params }, bodyLimit: 1024 * 1024 },
    async ({ params, body }, reply) => {
      const chain = chains.get(params.chain_id)
      if (!chain) throw new Problem('not_found', { detail: 'There is no such chain.', param: 'chain_id' })
      refuseCheats(body)
      const response = await fetch(chain.rpc_url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }).catch((cause: unknown) => {
        throw new ChainUnavailableError(chain.chain_id, 'Anvil does not answer', { cause })
      })
      return reply
        .code(response.status)
        .type('application/json')
        .send(await response.text())
    },
  )
}

function refuseCheats(body: unknown): void {
  for (const call of Array.isArray(body) ? body : [body]) {
    const method: unknown = call !== null && typeof call === 'object' && 'method' in call ? call.method : undefined
    if (typeof method === 'string' && OPEN_METHODS.test(method) && !CLOSED_METHODS.test(method)) continue
    throw new Problem('control_forbidden', { detail: `${String(method)} is not offered here.`, param: 'method' })
  }
}
