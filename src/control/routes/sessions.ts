import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { from, named } from '../../domain/described-schema.ts'
import { Problem } from '../../domain/errors.ts'
import type { ControlDeps, SandboxControl } from '../control-parts.ts'
import { isControlToken, refusal } from '../guard.ts'

const Wish = named(
  'SessionRequest',
  Type.Object(
    {
      code: Type.Optional(Type.String({ description: 'The code in the address that start prints; it is good once.' })),
      token: Type.Optional(
        Type.String({
          description: 'The control token, instead of a code; that of a namespace opens that namespace alone.',
        }),
      ),
    },
    { additionalProperties: false, minProperties: 1, examples: [{ token: '…' }], ...from('sandbox-routes') },
  ),
)

const COOKIE = { type: 'null', headers: { 'Set-Cookie': { $ref: '#/components/headers/Set-Cookie' } } }
const tags = ['Control']
const URL = '/_sandbox/sessions'

/** Sessions of browsers: the inspector's page cannot send the control token with everything, since an event stream has no headers. */
export async function sessionRoutes(app: FastifyInstance, { sandboxOf }: ControlDeps): Promise<void> {
  const isSecure = (request: FastifyRequest) =>
    (request.headers.origin ?? sandboxOf(request).origin.url).startsWith('https:')
  app.post<{ Body: Static<typeof Wish> }>(
    URL,
    {
      config: { open: true, errors: ['control_forbidden', 'control_token_required'] },
      schema: {
        tags,
        operationId: 'begin_session',
        summary: 'Begin a session of a browser, by a code or the control token',
        body: Wish,
        response: {
          204: {
            ...COOKIE,
            description: 'The cookie of the session is set; without a control token, none is needed and none is set.',
          },
        },
      },
    },
    async (request, reply) => {
      const { controlToken, sessions, namespaceOfToken } = sandboxOf(request)
      if (controlToken === undefined) return reply.code(204).send()
      const token = await tokenFor(request.body, { controlToken, sessions, namespaceOfToken })
      return reply
        .code(204)
        .header('set-cookie', sessions.begin(token, isSecure(request)))
        .send()
    },
  )
  app.delete(
    URL,
    {
      config: { open: true, errors: ['control_forbidden'] },
      schema: {
        tags,
        operationId: 'end_session',
        summary: 'End the session of the browser that asks',
        response: {
          204: { ...COOKIE, description: 'The cookie is of no use any more, and the browser forgets it.' },
        },
      },
    },
    async (request, reply) =>
      reply
        .code(204)
        .header('set-cookie', sandboxOf(request).sessions.end(request, isSecure(request)))
        .send(),
  )
}

/** What {@link tokenFor} needs to know. */
interface Tokens extends Pick<SandboxControl, 'sessions' | 'namespaceOfToken'> {
  controlToken: string
}

/** The control token that the session is to stand for. Throws Problem control_token_required or validation_error. A good code is used up. */
async function tokenFor(
  { code, token }: Static<typeof Wish>,
  { controlToken, sessions, namespaceOfToken }: Tokens,
): Promise<string> {
  if (code !== undefined && token !== undefined) {
    throw new Problem('validation_error', { detail: 'Give code or token, not both.', param: 'token' })
  }
  if (token !== undefined) {
    if (isControlToken(token, controlToken) || (await namespaceOfToken(token)) !== undefined) return token
    throw refusal('This is neither the control token printed at start nor that of a namespace.', 'token', true)
  }
  if (code !== undefined && !sessions.redeem(code)) {
    const detail = 'The code was used, has expired or was never given; give the control token instead.'
    throw refusal(detail, 'code', true)
  }
  return controlToken
}
