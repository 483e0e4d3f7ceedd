import type { IncomingMessage } from 'node:http'
import { DEFAULT_NAMESPACE, NAMESPACE_NAME } from '../domain/namespace-name.ts'
import { routed } from '../http/routing.ts'

/** What the head of a request says of where it belongs, in a process of several. */
export type Destination =
  /** To the process that was asked, whichever that is. */
  | 'here'
  /** To a namespace that its path names; `opens` is false for what is asked of one that need not be open. */
  | { namespace: string; opens: boolean }
  /** To the namespace of the client that its token names. */
  | 'token'
  /** To the namespace of the client that its form, or HTTP Basic, names. */
  | 'form'

const NAME = NAMESPACE_NAME.slice(1, -1)
const OF_NAMESPACE = new RegExp(`^/_sandbox/namespaces/(?<name>${NAME})(?<rest>/.*)?$`)
const OF_CHAIN = new RegExp(`^/rpc/(?<name>${NAME})(?<rest>/[^/]*)$`)
const OF_DEFAULT = /^\/(?:_sandbox|rpc)\//
/** What a process says of itself or of all, and what is the same in all. */
const OF_PROCESS =
  /^\/(?:_sandbox\/(?:health|ready|metrics|usage|namespaces|sessions|stop|public_url|guests)$|_sandbox\/namespaces\/|inspector\/|docs(?:\/|$)|openapi\.json$|favicon\.ico$|$)/
const METADATA = /^\/(?:[^/]+\/v2\.0\/)?\.well-known\//
const TOKEN = /^\/(?:oauth2\/token|[^/]+\/oauth2\/v2\.0\/token)$/

const DEFAULT: Destination = { namespace: DEFAULT_NAMESPACE, opens: true }

/** Reads it. What names nothing belongs to the default namespace. */
export function destinationOf({ method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): Destination {
  const path = routed(url)
  if (path.startsWith('/v1/')) return 'token'
  const { name, rest } = (OF_NAMESPACE.exec(path) ?? OF_CHAIN.exec(path))?.groups ?? {}
  if (name !== undefined) return { namespace: name, opens: rest !== undefined }
  if (OF_PROCESS.test(path) || METADATA.test(path)) return 'here'
  if (OF_DEFAULT.test(path)) return DEFAULT
  return TOKEN.test(path) && method === 'POST' ? 'form' : 'token'
}
