import { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '../domain/errors.ts'
import { resetConnection } from './connection.ts'
import { type PipelineDeps, refuseWhileAway } from './pipeline.ts'

/** Paths beside the service whose answers say something of stored state. */
const OF_STATE = /^\/(?:_sandbox\/(?!health|ready)|rpc\/)/
const IS_RPC = /^\/rpc\//
/** Paths of the control interface by which stored state is changed, unless they are read. */
const STORES = /^\/_sandbox\/(?:namespaces\/[^/?]+\/)?(?:clock|reset|namespaces(?:\/[^/?]+)?)(?:\?|$)/

/**
 * Keeps an app from answering for namespaces that another process may have taken over, and the control interface from changes that could
 * not be stored now. For an app with a database alone: it costs each
 * request a listener. Register it before the routes, so that an answer is checked before a fault can hold it up.
 */
export function guardShared(app: FastifyInstance): void {
  const open = new WeakMap<AbortSignal, Set<IncomingMessage>>()
  const openIn = ({ lost }: NonNullable<PipelineDeps['storage']>) => {
    const known = open.get(lost)
    if (known) return known
    const made = new Set<IncomingMessage>()
    open.set(lost, made)
    const reset = () => {
      for (const { socket } of made) resetConnection(socket)
    }
    lost.addEventListener('abort', reset, { once: true })
    return made
  }
  app.addHook('onRequest', ({ namespace: { storage }, raw, method, url }, reply, done) => {
    // A request of this process to its own sandbox came over no connection.
    if (storage && raw instanceof IncomingMessage) {
      const requests = openIn(storage)
      requests.add(raw)
      reply.raw.once('close', () => requests.delete(raw))
    }
    if (storage?.awaySince === undefined || method === 'GET' || method === 'HEAD' || !STORES.test(url)) return done()
    try {
      refuseWhileAway(storage)
      done()
    } catch (problem) {
      done(problem as Problem)
    }
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    const { storage } = request.namespace
    // Such an answer says nothing of what is stored.
    if (!storage || reply.statusCode === 503) return done(null, payload)
    if (storage.lost.aborted && request.raw instanceof IncomingMessage) return resetConnection(request.raw.socket)
    const refuse = () => done(uncertain())
    if (storage.lost.aborted) return refuse()
    if (!tellsOfState(request, reply.statusCode) || storage.holds()) return done(null, payload)
    if (storage.awaySince !== undefined || !storage.renewed) return refuse()
    // This process had no processor for as long as a lease takes: what it read is true if the lease is still its own.
    storage.renewed().then((holds) => (holds ? done(null, payload) : refuse()), refuse)
  })
}

function uncertain(): Problem {
  const detail = 'It is not certain at present that this process still has the state. Send the request again.'
  return new Problem('service_unavailable', { detail, headers: { 'retry-after': '1' } })
}

/** @returns true for what was read. A write is answered when it is stored, which only the owner can do. */
function tellsOfState({ method, url, exchange }: FastifyRequest, status: number): boolean {
  if (!exchange && !OF_STATE.test(url)) return false
  return status >= 400 || method === 'GET' || method === 'HEAD' || IS_RPC.test(url)
}
