import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { from, named } from '../../domain/described-schema.ts'
import { NAMESPACE_NAME } from '../../domain/namespace-name.ts'
import { MAX_SEED } from '../../support/random.ts'
import type { NamespaceWish } from '../contract.ts'
import { type ControlDeps, isFromOutside } from '../control-parts.ts'
import { CredentialsSchema, NamespaceSchema, NamespacesSchema } from '../schemas.ts'

const Wish = named(
  'NamespaceRequest',
  Type.Object(
    {
      name: Type.Optional(
        Type.String({
          pattern: NAMESPACE_NAME,
          description: 'Default: one that nobody has.',
          examples: ['pull-request-7'],
        }),
      ),
      fixtures: Type.Optional(
        Type.Object(
          {},
          {
            additionalProperties: true,
            description:
              'As in a fixture file; sections left out are those of the fixture the sandbox was started with.',
          },
        ),
      ),
      seed: Type.Optional(
        Type.Integer({ minimum: 0, maximum: MAX_SEED, description: 'Default: that of what it copies.' }),
      ),
      confirmation_delay: Type.Optional(
        Type.Union([Type.String(), Type.Number({ minimum: 0 })], {
          description: '`0`, `2s`, `5s-30s`, `realistic`, or milliseconds. Default: that of what it copies.',
          examples: ['0'],
        }),
      ),
      clock: Type.Optional(
        Type.String({
          description: 'ISO 8601 moment its clock starts at, frozen. Default: that of what it copies.',
          examples: ['2030-01-01T00:00:00Z'],
        }),
      ),
      from: Type.Optional(
        Type.String({ description: 'The namespace to copy as it is now. Default: `default` once it was seeded.' }),
      ),
      snapshot: Type.Optional(
        Type.String({
          minLength: 1,
          title: 'the text of a snapshot',
          description: 'A saved state to begin with, the text of `create_snapshot`; it has its own fixtures and seed.',
        }),
      ),
    },
    { additionalProperties: false, examples: [{ name: 'pull-request-7' }], ...from('namespaces') },
  ),
)
const Params = Type.Object({ namespace: Type.String({ examples: ['pull-request-7'] }) })

/** Bytes of a body: a snapshot has 64 MiB at most, and its line feeds take one more each. */
const WISH_LIMIT = 66 * 2 ** 20

const tags = ['Namespaces']
const URL = '/_sandbox/namespaces'

/** Isolated copies of everything behind the API, each with credentials of its own. */
export async function namespaceRoutes(app: FastifyInstance, { sandboxOf }: ControlDeps): Promise<void> {
  const reach = (request: FastifyRequest) => ({ hereAlone: sandboxOf(request).isForwarded(request.raw) })
  app.get(
    URL,
    {
      schema: {
        tags,
        operationId: 'list_namespaces',
        summary: 'Every namespace, the default one first',
        response: { 200: NamespacesSchema },
      },
    },
    (request) => sandboxOf(request).namespaces.list(reach(request)),
  )
  app.post<{ Body: NamespaceWish & Static<typeof Wish> }>(
    URL,
    {
      schema: {
        tags,
        operationId: 'create_namespace',
        summary: 'Make a namespace; its credentials choose it',
        body: Wish,
        response: { 201: CredentialsSchema },
      },
      bodyLimit: WISH_LIMIT,
      config: {
        errors: [
          'namespace_exists',
          'namespace_not_found',
          'too_many_namespaces',
          'chain_unavailable',
          'service_unavailable',
          'sandbox_starting',
        ],
      },
    },
    async (request, reply) => {
      const { namespaces } = sandboxOf(request)
      return reply.code(201).send(await namespaces.create(request.body, isFromOutside(request), reach(request)))
    },
  )
  app.get<{ Params: Static<typeof Params> }>(
    `${URL}/:namespace`,
    {
      schema: {
        tags,
        operationId: 'get_namespace',
        summary: 'One namespace, as the list shows it',
        params: Params,
        response: { 200: NamespaceSchema },
      },
      config: { errors: ['namespace_not_found'] },
    },
    (request) => sandboxOf(request).namespaces.summary(request.params.namespace),
  )
  app.delete<{ Params: Static<typeof Params> }>(
    `${URL}/:namespace`,
    {
      schema: {
        tags,
        operationId: 'delete_namespace',
        summary: 'End a namespace; requests it holds are answered 503',
        params: Params,
        response: { 204: { type: 'null', description: 'Nothing is left of it.' } },
      },
      config: { errors: ['namespace_not_found', 'service_unavailable'] },
    },
    async (request, reply) => {
      await sandboxOf(request).namespaces.delete(request.params.namespace)
      return reply.code(204).send()
    },
  )
}
