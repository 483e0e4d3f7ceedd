import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { from, named } from '../../domain/described-schema.ts'
import type { ControlDeps } from '../control-parts.ts'

const PublicUrl = named(
  'PublicUrl',
  Type.Object(
    {
      public_url: Type.String({
        description: 'The origin that clients see: scheme, host and port, no path.',
        examples: ['http://localhost:32768'],
      }),
    },
    { additionalProperties: false, ...from('sandbox-routes') },
  ),
)

/** Announces the origin that clients see, where it is known only after the start: the port that a container maps. */
export async function publicUrlRoutes(app: FastifyInstance, { sandboxOf }: ControlDeps): Promise<void> {
  app.put<{ Body: Static<typeof PublicUrl> }>(
    '/_sandbox/public_url',
    {
      schema: {
        tags: ['Control'],
        operationId: 'put_public_url',
        summary: 'Announce the origin that clients see',
        body: PublicUrl,
        response: { 200: PublicUrl },
      },
    },
    (request) => {
      const { announce, origin } = sandboxOf(request)
      announce(request.body.public_url)
      return { public_url: origin.url }
    },
  )
}
