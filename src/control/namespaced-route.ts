import type {} from '@fastify/swagger'
import { Type } from '@sinclair/typebox'
import type { RouteOptions } from 'fastify'

const IN_PATH = '/:namespace/'

const Namespace = Type.String({ description: 'Name of the namespace.', examples: ['pull-request-7'] })

/** A hook for routes as they are made: what is below `namespaces/{namespace}/` is described as such. */
export function describeAsNamespaced(route: RouteOptions): void {
  const { schema, config } = route
  if (!route.url.includes(IN_PATH) || !schema) return
  const params = schema.params as { properties?: object } | undefined
  route.schema = {
    ...schema,
    operationId: `namespace_${schema.operationId}`,
    summary: `${schema.summary} (of a namespace)`,
    tags: ['Namespaces'],
    params: {
      ...Type.Object({ namespace: Namespace }),
      ...params,
      properties: { namespace: Namespace, ...params?.properties },
    },
  }
  route.config = { ...config, errors: [...(config?.errors ?? []), 'namespace_not_found'] }
}
