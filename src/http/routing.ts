import type { FastifyRequest } from 'fastify'
import { Problem } from '../domain/errors.ts'
import type { Endpoint } from '../partner-api/endpoint.ts'

/** A path in the router's reading, without the query: `/%5fsandbox/` is `/_sandbox/`. Text that cannot be decoded is unchanged. */
export function routed(url: string): string {
  const query = url.indexOf('?')
  const path = query < 0 ? url : url.slice(0, query)
  if (!path.includes('%')) return path
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

const PROBE = /^\/_sandbox\/(health|ready)$/

/** The question of an orchestrator or load balancer after the process itself, not after what it serves; undefined for other requests. */
export function probeIn(url: string | undefined): string | undefined {
  return PROBE.exec(routed(url ?? ''))?.[1]
}

/** The parameters of a request without a query, as most are: one object for all of them, which nobody can change. */
const NO_PARAMETERS: Record<string, unknown> = Object.freeze(Object.create(null))

/**
 * Parses query parameters as strings, a repeated one as a list (which no schema accepts), and a whole `limit` as a number: a looser rule
 * would let `1e1` pass for ten. Never throws, since Fastify calls it outside of every error handler.
 */
export function parseQuery(query: string): Record<string, unknown> {
  if (query === '') return NO_PARAMETERS
  const parameters: Record<string, unknown> = Object.create(null)
  for (const [name, value] of new URLSearchParams(query)) {
    const earlier = parameters[name]
    if (earlier === undefined) parameters[name] = name === 'limit' && /^\d{1,15}$/.test(value) ? Number(value) : value
    // Into the existing list: a copy for every repetition would take quadratic time.
    else if (Array.isArray(earlier)) earlier.push(value)
    else parameters[name] = [earlier, value]
  }
  return parameters
}

/** Refuses paths that nothing serves, and methods that a path does not have. Assumption `unknown-route`. */
export function unknownRoute(endpoints: readonly Endpoint[]) {
  const paths = endpoints.map(({ url, method }) => ({
    methods: method === 'GET' ? ['GET', 'HEAD'] : [method],
    pattern: new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`),
  }))
  return (request: FastifyRequest): never => {
    const path = request.url.split('?', 1)[0] ?? ''
    const allow = [...new Set(paths.flatMap(({ pattern, methods }) => (pattern.test(path) ? methods : [])))].join(', ')
    if (!allow) {
      throw new Problem('not_found', { detail: 'Nothing is served at this path; /docs lists what is.', param: 'path' })
    }
    const detail = `${request.method} is not allowed here; what is: ${allow}.`
    throw new Problem('method_not_allowed', { detail, param: 'method', headers: { allow } })
  }
}
