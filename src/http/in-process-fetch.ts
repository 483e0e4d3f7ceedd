import type { FastifyInstance } from 'fastify'

/** Statuses a Response may have no body with. */
const NO_BODY = new Set([204, 205, 304])

/**
 * A `fetch` that the application answers as if the request had come over the network, whatever host the URL names: in its own
 * process, a public URL may lead nowhere, and the certificate need not be trusted.
 */
export function inProcessFetch(app: FastifyInstance, host: string): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const { pathname, search } = new URL(request.url)
    const answer = await app.inject({
      method: request.method as 'POST',
      url: `${pathname}${search}`,
      headers: { ...Object.fromEntries(request.headers), host },
      payload: Buffer.from(await request.arrayBuffer()),
      signal: request.signal,
    })
    const body = NO_BODY.has(answer.statusCode) ? null : new Uint8Array(answer.rawPayload)
    const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)])
    return new Response(body, { status: answer.statusCode, headers })
  }
}
