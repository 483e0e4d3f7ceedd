import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiResponse } from '../domain/api-response.ts'
import type { Problem } from '../domain/errors.ts'
import { ExchangeEnded, type IdpTokenChanges } from '../domain/exchange.ts'
import { formDecode } from '../support/encodings.ts'
import type { Refusal } from '../traffic/recorded-exchange.ts'
import { duringResponse, parked } from './during-response.ts'
import type { Entrance, EntranceDeps } from './entrance.ts'
import { HttpExchange } from './exchange.ts'
import { bringFault, refuseUnlessReady } from './pipeline.ts'
import { noteBody } from './record.ts'
import { codeIn } from './request-log.ts'

/**
 * Lets faults strike the token operation. Call it on the scope in which the identity provider's routes are registered; it returns the
 * hooks that those routes need.
 */
export function tokenEndpointFaults(scope: FastifyInstance, { entrance, sandboxOf }: TokenEndpointDeps): TokenEndpoint {
  scope.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'POST') return
    const client = clientId(request)
    entrance.enter(request, reply, await sandboxOf(request.raw).namespaceOfClient(client), 'token')
    noteForm(request)
    const { faults, service, notReady, quota } = request.namespace
    // Before the tenants are loaded, a registered client would get the answer that it is unknown.
    refuseUnlessReady(notReady())
    quota?.admitRequest()
    const target = { operation: 'token', user_token: false, render: oauthError } as const
    const exchange = new HttpExchange(request, reply, target)
    request.exchange = exchange
    bringFault(request, exchange, request.namespace)
    if (!faults.concerns(exchange)) return
    exchange.claimedTenant = service.store.find('tenants', 'client_id', client)?.slug
    try {
      await faults.at('on_request', exchange)
    } catch (error) {
      if (error instanceof ExchangeEnded) return parked()
      throw error
    }
    if (exchange.dropped) return parked()
  })
  scope.addHook('onSend', (request, reply, payload, done) => {
    entrance.enterAnyway(request, reply)
    if (reply.statusCode >= 400) request.code = codeIn(payload)
    done(null, payload)
  })
  scope.addHook('onSend', duringResponse)
  return {
    wish: (request) => request.exchange?.tokenWish ?? {},
    refused(request, reply, { error: code, description: detail, details }) {
      entrance.enterAnyway(request, reply)
      const usual = code === 'temporarily_unavailable' ? 'ready' : 'parameters'
      const { check = usual, aspect = null, expected = null, came = null } = details
      if (request.record) request.record.refusal ??= { check, code, aspect, expected, came, detail }
    },
  }
}

/** The hooks of the identity provider's routes. */
interface TokenEndpoint {
  /** Changes that a fault makes to the answer. */
  wish(request: FastifyRequest): IdpTokenChanges
  /** Notes the reason why a request is refused. */
  refused(request: FastifyRequest, reply: FastifyReply, error: RefusedTokenRequest): void
}

/** An error of RFC 6749 §5.2. */
interface RefusedTokenRequest {
  error: string
  description: string
  details: Partial<Pick<Refusal, 'check'>> & { aspect?: string; expected?: string; came?: string }
}

/** Notes the parsed form. */
function noteForm(request: FastifyRequest): void {
  if (!(request.body instanceof URLSearchParams)) return
  const form = request.body.toString()
  noteBody(request, form, Number(request.headers['content-length'] ?? Buffer.byteLength(form)))
}

/** Dependencies of {@link tokenEndpointFaults}. */
export interface TokenEndpointDeps extends Pick<EntranceDeps, 'sandboxOf'> {
  entrance: Entrance
}

/** The client id that the request claims, in the form or by HTTP Basic. */
function clientId({ body, headers }: FastifyRequest): string {
  return clientOfForm(body instanceof URLSearchParams ? body : undefined, headers.authorization)
}

/** The client id in a form, or in HTTP Basic; empty for none. */
export function clientOfForm(form: URLSearchParams | undefined, authorization: string | undefined): string {
  const inForm = form?.get('client_id') ?? undefined
  const basic = authorization?.replace(/^basic +/i, '') ?? ''
  const encoded = Buffer.from(basic, 'base64').toString().split(':', 1)[0] ?? ''
  // Some libraries percent-encode even hyphens.
  return inForm ?? formDecode(encoded) ?? encoded
}

function oauthError({ code, status, details }: Problem): ApiResponse & { type: string } {
  const body = { error: code, error_description: details.detail }
  return { status, body, headers: details.headers, type: 'application/json; charset=utf-8' }
}
