import { from, SPECIFICATION } from '../domain/described-schema.ts'
import { ErrorSchema, TokenSchema } from './schemas.ts'

const header = (description: string) => ({ description, schema: { type: 'string' }, ...from('idp-errors') })

const NOT_KEPT = { 'Cache-Control': header('no-store: RFC 6749 §5.1.'), Pragma: header('no-cache: RFC 6749 §5.1.') }

const WHEN = {
  400: 'What is wrong with the form: RFC 6749 §5.2.',
  401: 'The client is unknown, or its secret is wrong.',
  413: 'The form is over 16 KiB.',
  414: 'Path and query are over 8 KiB.',
  415: 'The body is coded.',
  429: 'A fault asks for it.',
  500: 'The sandbox failed, or a fault asks for it.',
  501: 'The transfer coding is not known.',
  502: 'A fault asks for it.',
  503: 'Not ready yet, or a fault asks for it.',
  504: 'A fault asks for it.',
}

const CHALLENGE = { 'WWW-Authenticate': header('Basic, for a client that used the Authorization header.') }

/** Every answer of the token endpoint, for the description; `lifetime` of a token in seconds. */
export const tokenResponses = (lifetime: number) => ({
  200: {
    description: 'The access token. Cache it until 60 seconds before it expires.',
    ...from(SPECIFICATION),
    headers: NOT_KEPT,
    content: { 'application/json': { schema: TokenSchema(lifetime) } },
  },
  ...Object.fromEntries(
    Object.entries(WHEN).map(([status, description]) => [
      status,
      {
        description,
        ...from('idp-errors'),
        headers: { ...NOT_KEPT, ...(status === '401' && CHALLENGE) },
        content: { 'application/json': { schema: ErrorSchema } },
      },
    ]),
  ),
})
