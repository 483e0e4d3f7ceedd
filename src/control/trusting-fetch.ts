import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'

/** Statuses of a Response that must not have a body. */
const NO_BODY = new Set([204, 205, 304])

/**
 * A `fetch` by Node's HTTP client, which over https trusts one authority (PEM) and no other, if one is given. Node's own `fetch` takes an
 * authority only from the environment (NODE_EXTRA_CA_CERTS), when the process starts, and neither resolves nor rejects when a
 * server closes the connection at once: the process then ends in the middle, with exit code 0.
 */
export function trustingFetch(ca?: string): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const { url, method, signal } = request
    const headers = Object.fromEntries(request.headers)
    const body = Buffer.from(await request.arrayBuffer())
    return new Promise((resolve, reject) => {
      const send = url.startsWith('https:') ? httpsRequest : httpRequest
      const asked = send(url, { method, headers, ca, signal, agent: false }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => resolve(responseOf(response.statusCode ?? 0, response.headers, Buffer.concat(chunks))))
      })
      asked.on('error', reject)
      asked.end(body)
    })
  }
}

/** Converts an answer of Node's own HTTP client to the Response that `fetch` would return. */
export function responseOf(status: number, headers: IncomingHttpHeaders, body: Buffer): Response {
  const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  return new Response(NO_BODY.has(status) ? null : new Uint8Array(body), { status, headers: fields })
}
