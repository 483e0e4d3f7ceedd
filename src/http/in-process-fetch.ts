import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { responseOf } from '../control/trusting-fetch.ts'

/**
 * A `fetch` that the application answers as if the request had come over the network, whatever host the URL names. In its own process, a
 * public URL may not be reachable, and the certificate need not be trusted. `remoteAddress`: who the request comes from.
 */
export function inProcessFetch(app: FastifyInstance, host: string, remoteAddress?: string): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const { pathname, search } = new URL(request.url)
    const answer = await app.inject({
      method: request.method as 'POST',
      url: `${pathname}${search}`,
      headers: { ...Object.fromEntries(request.headers), host },
      payload: Buffer.from(await request.arrayBuffer()),
      signal: request.signal,
      ...(remoteAddress !== undefined && { remoteAddress }),
    })
    return responseOf(answer.statusCode, answer.headers as IncomingHttpHeaders, answer.rawPayload)
  }
}
