import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { from, named } from '../../domain/described-schema.ts'
import { MAX_SEED } from '../../support/random.ts'
import type { ControlDeps } from '../control-parts.ts'
import { GuestSchema } from '../guest-schemas.ts'

const Body = named(
  'GuestWish',
  Type.Object(
    {
      pid: Type.Integer({ minimum: 1, description: 'Process, on the same machine, with which it ends.' }),
      seed: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_SEED, description: "Default: this sandbox's." })),
      confirmation_delay: Type.Optional(
        Type.Union([Type.String(), Type.Number({ minimum: 0 })], {
          description: "`0`, `2s`, `5s-30s`, `realistic`, or milliseconds. Default: the fixture's, else 0.",
        }),
      ),
      clock: Type.Optional(
        Type.String({ description: 'ISO 8601 moment its clock starts at, frozen. Default: real time.' }),
      ),
    },
    { additionalProperties: false, examples: [{ pid: 4242 }], ...from('sandbox-routes') },
  ),
)

/** Sandboxes within this one, each for one run of a command: with a port of its own, from the same fixture, there in some milliseconds. */
export async function guestRoutes(app: FastifyInstance, { sandboxOf }: ControlDeps): Promise<void> {
  app.post<{ Body: Static<typeof Body> }>(
    '/_sandbox/guests',
    {
      schema: {
        tags: ['Control'],
        operationId: 'create_guest',
        summary: 'Make a sandbox within this one, on a port of its own; it ends with a process, or by its own stop',
        body: Body,
        response: { 201: GuestSchema },
      },
      config: { errors: ['validation_error', 'chain_unavailable', 'sandbox_starting'] },
    },
    async (request, reply) => reply.code(201).send(await sandboxOf(request).createGuest(request.body)),
  )
}
