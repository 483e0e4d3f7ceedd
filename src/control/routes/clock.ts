import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { END_OF_TIME, SandboxClock } from '../../domain/clock.ts'
import { from, named } from '../../domain/described-schema.ts'
import { Problem } from '../../domain/errors.ts'
import { NotKeptError } from '../../domain/ports/journal.ts'
import { clockState } from '../../overview/overview.ts'
import { shorten } from '../../support/foreign-text.ts'
import { parseDuration, parseMoment } from '../../support/quantities.ts'
import { controlOf } from '../control-parts.ts'
import { ClockStateSchema, MovedClockSchema } from '../schemas.ts'

const Move = named(
  'ClockMove',
  Type.Object(
    {
      advance: Type.Optional(Type.String({ description: 'A duration to move on by.', examples: ['8d'] })),
      set: Type.Optional(Type.String({ description: 'A later moment, ISO 8601.', examples: ['2027-01-01T00:00:00Z'] })),
      freeze: Type.Optional(Type.Boolean({ description: 'true stops business time, false lets it run on.' })),
    },
    { additionalProperties: false, minProperties: 1, examples: [{ advance: '1h' }], ...from('sandbox-routes') },
  ),
)

/** Business time: read it, move it forward, freeze it. */
export async function clockRoutes(app: FastifyInstance): Promise<void> {
  app.get(
    '/clock',
    {
      schema: {
        tags: ['Control'],
        operationId: 'get_clock',
        summary: 'The sandbox clock',
        response: { 200: ClockStateSchema },
      },
    },
    (request) => clockState(controlOf(request).clock),
  )
  app.post<{ Body: Static<typeof Move> }>(
    '/clock',
    {
      schema: {
        tags: ['Control'],
        operationId: 'move_clock',
        summary: 'Move or freeze the sandbox clock',
        body: Move,
        response: { 200: MovedClockSchema },
      },
      config: { errors: ['service_unavailable'] },
    },
    async (request) => {
      const { body } = request
      const { clock, keepClock, clockKept, chainsFollow } = controlOf(request)
      const step = stepOf(body, clock)
      if (clock.now() + step > END_OF_TIME) {
        throw invalid(body.set === undefined ? 'advance' : 'set', 'The sandbox clock ends with the year 9999.')
      }
      const plan = new SandboxClock(undefined, clock.state)
      move(plan, body, step)
      await keepClock(plan.state) // a move that cannot be saved does not happen
      move(clock, body, step)
      await clockKept().catch(movedAndNotKept)
      const chains = await chainsFollow()
      return { ...clockState(clock), chains }
    },
  )
}

/** A freeze is saved twice: before, and again with the millisecond in which it happened. This reports that the second save failed. */
function movedAndNotKept(error: unknown): never {
  if (!(error instanceof NotKeptError)) throw error
  const detail = `The clock has moved, which is not kept yet: ${error.message} It is kept before anything that follows.`
  throw new Problem('service_unavailable', { detail, headers: { 'retry-after': '5' } }, { cause: error })
}

function move(clock: SandboxClock, { freeze }: Static<typeof Move>, step: number): void {
  if (freeze === true) clock.freeze()
  if (step > 0) clock.advance(step)
  if (freeze === false) clock.unfreeze()
}

function stepOf({ advance, set }: Static<typeof Move>, clock: SandboxClock): number {
  if (advance !== undefined && set !== undefined) throw invalid('set', 'Give advance or set, not both.')
  if (set !== undefined) {
    const step = parseMoment(set) - clock.now()
    if (Number.isNaN(step))
      throw invalid('set', `"${shorten(set)}" is not an ISO 8601 date and time; write it like 2030-01-31T00:00:00Z.`)
    if (step < 0) throw invalid('set', `The clock only moves forward; it is ${clock.iso()} now.`)
    return step
  }
  try {
    return advance === undefined ? 0 : parseDuration(advance)
  } catch (error) {
    throw error instanceof RangeError ? invalid('advance', `${error.message}.`) : error
  }
}

function invalid(param: string, detail: string): Problem {
  return new Problem('validation_error', { detail, param })
}
