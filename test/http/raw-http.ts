import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { connect } from 'node:net'
import { expect } from 'vitest'
import type { Partner } from '../helpers/partner.ts'

/** A response, read without a client's help. */
export interface RawAnswer {
  status: number
  /** Names in lower case. */
  headers: Record<string, string | undefined>
  text: string
}

/** A request that is sent as it stands: no client normalises its path or completes its headers. */
export interface RawRequest {
  method?: string
  path: string
  headers?: Record<string, string | string[]>
  body?: string | Buffer
}

/** Sends a request over a connection of its own; the path goes out byte for byte. */
export function send(baseUrl: string, { method = 'GET', path, headers = {}, body }: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl)
  // Node frames bodies of its own accord for some methods only.
  const framed = body === undefined || 'content-length' in headers || 'transfer-encoding' in headers
  const complete = framed ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) }
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, method, path, headers: complete, agent: false }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () => {
        const entries = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])
        const text = Buffer.concat(chunks).toString()
        resolve({ status: incoming.statusCode ?? 0, headers: Object.fromEntries(entries), text })
      })
    })
    // An answer may come before the body is out, and the rest of it then meets a closed connection.
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** Writes bytes to a connection and reads the one answer until the server closes it. */
export function sendBytes(baseUrl: string, bytes: string | Buffer): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', reject)
    socket.on('close', () => resolve(parse(Buffer.concat(chunks).toString())))
  })
}

function parse(answer: string): RawAnswer {
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  const [status = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  return { status: Number(status.split(' ')[1]), headers: Object.fromEntries(headers), text: rest.join('\r\n\r\n') }
}

/** What a refusal must say. */
export interface Refusal {
  status: number
  code: string
  param?: string
}

const seen = new Set<string>()

/** The version and a request id no other answer had. spec: Versioning 2 */
export function expectIdentified({ headers }: RawAnswer): void {
  expect(headers['x-service-api-version']).toBe('1.0.0')
  const id = headers['x-service-request-id'] ?? ''
  expect(id).toMatch(/^req_[0-9A-HJKMNP-TV-Z]{26}$/)
  expect(seen).not.toContain(id)
  seen.add(id)
}

/** A refusal in the service's own form: identified, with its code, and the parameter at fault named. */
export function expectRefusal(answer: RawAnswer, { status, code, param }: Refusal): void {
  expect({ status: answer.status, text: answer.text }).toEqual({ status, text: expect.any(String) })
  expectIdentified(answer)
  expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8')
  const body = JSON.parse(answer.text)
  expect(body).toMatchObject({ code, status, ...(param !== undefined && { param }) })
  expect(body.request_id).toBe(answer.headers['x-service-request-id'])
  expect(body.detail).toMatch(/\w+ \w+/)
}

/** Whatever came back, it is an answer of the service and not a failure of it. */
export function expectNoFailure(answer: RawAnswer): void {
  expect({ status: answer.status, text: answer.text }).toSatisfy(
    ({ status }) => status >= 200 && status < 500,
    'a status from 200 to 499',
  )
  expectIdentified(answer)
}

/** The headers of a correct request on behalf of an end user, with a fresh Idempotency-Key. */
export async function goodHeaders(partner: Partner, externalId = 'alice'): Promise<Record<string, string>> {
  return {
    authorization: `Bearer ${await partner.idpToken()}`,
    'x-user-token': await partner.userToken(externalId),
    'idempotency-key': randomUUID(),
    'content-type': 'application/json',
  }
}
