import type { Dice } from './dice.ts'
import type { Weather } from './weather.ts'
import type { World } from './world.ts'

/** The parts of the sandbox that are shot at. */
export const FACES = ['service', 'token', 'control', 'rpc', 'raw'] as const
export type Face = (typeof FACES)[number]

/** What a request was made of, and what its answer has to be measured by. */
export interface FuzzRequest {
  /** Method and path template, or the JSON-RPC method: what findings are counted by. */
  what: string
  /** As it goes out. */
  bytes: Buffer
  method: string
  path: string
  /** On a connection of its own, which is closed afterwards: the bytes may mean more than one request, or none. */
  alone?: boolean
  /** No answer is an answer too, since the request is not complete or a fault may end the exchange. */
  mayBeSilent?: boolean
  /** A fault may have changed the answer: only its status is looked at. */
  struck?: boolean
  /** The only ids a JSON-RPC answer may have, in JSON. */
  rpcIds?: readonly string[]
  /** The chain that is asked. */
  chain?: string
}

/** What makes requests: the dice decide, and nothing else. */
export type Shooter = (dice: Dice, world: World, weather: Weather) => FuzzRequest

/** A request before it is written. */
export interface HttpDeps {
  method: string
  path: string
  headers: [name: string, value: string][]
  body?: string | Buffer
}

/** An HTTP/1.1 request, written without asking whether it is one. */
export function written({ method, path, headers, body }: HttpDeps): Buffer {
  const named = (wanted: string) => headers.some(([name]) => name.toLowerCase() === wanted)
  const fields = [...(named('host') ? [] : [['host', '127.0.0.1'] as const]), ...headers]
  if (body !== undefined && !named('content-length') && !named('transfer-encoding')) {
    fields.push(['content-length', String(Buffer.byteLength(body))])
  }
  const head = `${method} ${path} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
  return Buffer.concat([Buffer.from(head), Buffer.from(body ?? '')])
}

/** Whether a request line or header ends early, so that what follows is another request or none. */
export function breaksOut({ method, path, headers }: HttpDeps): boolean {
  const harmful = /\p{Control}/u
  if (!/^[A-Z]+$/.test(method) || /\s/.test(path) || harmful.test(path)) return true
  return headers.some(([name, value]) => harmful.test(value) || !/^[\w-]+$/.test(name))
}
