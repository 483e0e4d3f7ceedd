import type { FastifyRequest } from 'fastify'
import { Problem } from '../domain/errors.ts'
import type { Endpoint } from '../partner-api/endpoint.ts'

/** Paths nobody serves, and methods a path does not have. Assumption `unknown-route`. */
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
