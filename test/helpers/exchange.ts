import { Agent, request } from 'node:http'

/** A request as {@link exchange} sends it. */
interface Sent {
  method: string
  headers: Record<string, string>
  body?: string
  /** Gives the request up: the connection is closed. */
  signal?: AbortSignal
}

/** What came back, as text. */
interface Received {
  status: number
  headers: Headers
  text: string
}

/** Idle connections end long before the sandbox ends them, after 72 seconds: a request that was sent at that moment would be cut off. */
const agent = new Agent({ keepAlive: true, timeout: 30_000 })

/**
 * One exchange by HTTP, at half the processor time of `fetch`, of which there are tens of thousands in all tests. Rejects when the
 * connection is closed before the whole answer came, and when the signal says so.
 */
export function exchange(url: string, { method, headers, body, signal }: Sent): Promise<Received> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? undefined : { 'content-length': Buffer.byteLength(body) }
    const sent = request(url, { method, agent, headers: { ...headers, ...length }, ...(signal && { signal }) })
    sent.on('error', reject)
    sent.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: headersOf(response.rawHeaders), text })
      })
    })
    sent.end(body)
  })
}

function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers()
  for (let i = 0; i < raw.length; i += 2) headers.append(raw[i] ?? '', raw[i + 1] ?? '')
  return headers
}

/** @returns true if the error says that a connection broke, by `fetch` as well, or that an answer was cut */
export function brokeOff(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof SyntaxError) return true
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
}
