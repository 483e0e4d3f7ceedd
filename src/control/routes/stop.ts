import type { FastifyInstance } from 'fastify'
import type { Stopping } from '../contract.ts'
import type { ControlDeps } from '../control-parts.ts'
import { StoppingSchema } from '../schemas.ts'

/** Ends the sandbox, as a signal would. */
export async function stopRoutes(app: FastifyInstance, { sandboxOf }: ControlDeps): Promise<void> {
  const schema = {
    tags: ['Control'],
    operationId: 'stop',
    summary: 'End the sandbox',
    response: { 202: StoppingSchema },
  }
  app.post('/_sandbox/stop', { schema }, (request, reply) => {
    const { stop } = sandboxOf(request)
    // Only after the answer, since a sandbox that stops closes its connections.
    reply.raw.once('close', () => {
      stop().catch((error: unknown) => request.log.error({ err: error }, 'the sandbox did not end in order'))
    })
    const state: Stopping = { stopping: true }
    return reply.code(202).send(state)
  })
}
