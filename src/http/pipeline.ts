import type { FastifyReply, FastifyRequest } from 'fastify'
import { decodeJwt } from 'jose'
import { isControlToken } from '../control/guard.ts'
import { challengeOf, Problem } from '../domain/errors.ts'
import type { Exchange } from '../domain/exchange.ts'
import { KEY_FORMS, unquotedKey } from '../domain/idempotency-key.ts'
import type { Ids } from '../domain/ids.ts'
import type { Service } from '../domain/service.ts'
import type { FaultEngine } from '../faults/fault-engine.ts'
import type { Endpoint } from '../partner-api/endpoint.ts'
import { shorten } from '../support/foreign-text.ts'
import type { ExchangeLog } from '../traffic/exchange-log.ts'
import type { HttpExchange } from './exchange.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the request is let in to; set before anything else is done with it. */
    namespace: PipelineDeps
    /** What was found about its identity-provider token on the way to its namespace, if that was looked at. */
    seenToken: { refusal: Problem | undefined } | undefined
  }
}

/** A namespace, as the way of a request needs it. */
export interface PipelineDeps {
  name: string
  service: Service
  /** Of requests, too. */
  ids: Ids
  faults: FaultEngine
  /** What its clients sent and got. */
  exchanges: ExchangeLog
  /** What a request must know to bring a fault along; undefined when anybody may. */
  controlToken: string | undefined
  /** What the URL of its JSON-RPC must carry for sending transactions; undefined when anybody may. */
  rpcKey: string | undefined
  /** Throws Problem token_missing or invalid_idp_token. */
  verifyIdpToken(request: Pick<FastifyRequest, 'headers' | 'seenToken'>): Promise<{ appid: string; tid: string }>
  /** Told of every answer about to be written whole: what it does is done before the client can ask again. */
  answered(exchange: Exchange, status: number): void
  /** Aborted by the next reset or stop. */
  generation(): AbortSignal
  /** Why the sandbox cannot serve yet; undefined when it can. */
  notReady(): string | undefined
}

/** One request on its way. */
export interface RequestContext {
  endpoint: Endpoint
  /** What it was let in to: aborted when a reset begins another. */
  generation: AbortSignal
  exchange: HttpExchange
  request: FastifyRequest
  reply: FastifyReply
}

type Step = (context: RequestContext, deps: PipelineDeps) => void | Promise<void>

/**
 * The way of a request before its body is read, in the order in which errors win (assumption `error-precedence`). Then
 * Fastify reads the body and validates path, query and body against the endpoint's schemas, and `handle.ts` claims the
 * key, runs the handler and settles the key. Nothing else runs in between.
 */
export const steps: readonly Step[] = [ready, faultsOnRequest, identityProviderToken, role, userToken, idempotencyKey]

/** Whether the request may go on: the sandbox is ready, and still the one that let it in. */
export function ready({ generation }: RequestContext, deps: PipelineDeps): void {
  refuseUnlessReady(deps.notReady() ?? (generation.aborted ? 'The sandbox was reset meanwhile.' : undefined))
}

/** Throws Problem sandbox_starting when there is a reason not to serve. */
export function refuseUnlessReady(reason: string | undefined): void {
  if (reason) throw new Problem('sandbox_starting', { detail: reason })
}

/** Rules in force, and the one the request itself may bring along in `X-Sandbox-Fault`. */
async function faultsOnRequest(context: RequestContext, deps: PipelineDeps): Promise<void> {
  const { exchange, request } = context
  const { faults, service } = deps
  bringFault(request, exchange, deps)
  if (!faults.concerns(exchange)) return
  exchange.claimedTenant = await claimedTenant(request, service)
  await faults.at('on_request', exchange)
  // A fault may have held the request until the sandbox is being reset.
  ready(context, deps)
}

/**
 * Takes on the fault that a request brings along in `X-Sandbox-Fault`: as the control interface, for those only who know its
 * token, if there is one. Throws Problem control_token_required or validation_error.
 */
export function bringFault(
  request: FastifyRequest,
  exchange: HttpExchange,
  { faults, controlToken }: Pick<PipelineDeps, 'faults' | 'controlToken'>,
): void {
  const fault = header(request, 'x-sandbox-fault')
  if (fault === undefined) return
  const given = header(request, 'x-sandbox-control-token')
  if (controlToken !== undefined && !isControlToken(given, controlToken)) {
    const headers = { 'www-authenticate': challengeOf('control_token_required', given !== undefined) }
    const detail = 'X-Sandbox-Fault needs the control token printed at start, in X-Sandbox-Control-Token.'
    throw new Problem('control_token_required', { detail, param: 'X-Sandbox-Control-Token', headers })
  }
  faults.bring(fault, exchange)
}

/** spec: Identity-provider token 4 to 6. Assumption `idp-token-issuer`: the token is of the tenant its appid belongs to. */
async function identityProviderToken({ exchange, request }: RequestContext, deps: PipelineDeps): Promise<void> {
  const { appid, tid } = await deps.verifyIdpToken(request)
  const tenant = await deps.service.store.find('tenants', 'client_id', appid)
  if (!tenant) {
    throw new Problem('unknown_partner', {
      detail: 'The appid claim matches no registered tenant.',
      param: 'Authorization',
      aspect: 'appid',
      expected: 'the client_id of a tenant',
      came: JSON.stringify(shorten(appid)),
    })
  }
  if (tid !== tenant.tenant_id) {
    const detail = `The identity-provider token was refused: its tid is not ${tenant.tenant_id}, the tenant of its appid.`
    const flaw = { aspect: 'tid', expected: JSON.stringify(tenant.tenant_id), came: JSON.stringify(shorten(tid)) }
    throw new Problem('invalid_idp_token', { detail, param: 'Authorization', ...flaw })
  }
  exchange.verifiedTenant = tenant
}

/** spec: Identity-provider token 7 */
function role({ exchange, endpoint }: RequestContext): void {
  const tenant = exchange.requireTenant()
  if (tenant.access === 'all' || tenant.access.includes(endpoint.operation)) return
  throw new Problem('insufficient_role', {
    detail: `The tenant ${tenant.slug} has no access to ${endpoint.operation}.`,
    aspect: 'roles',
    expected: tenant.access.join(', ') || 'none',
    came: endpoint.operation,
  })
}

/** spec: User token 4 and 5 */
async function userToken({ exchange, endpoint, request }: RequestContext, { service }: PipelineDeps): Promise<void> {
  if (!endpoint.user_token) return
  const { sub } = await service.verifyUserToken(header(request, 'x-user-token'), exchange.requireTenant())
  if (sub === exchange.external_id) return
  throw new Problem('sub_url_mismatch', {
    detail: 'The sub claim of the user token is not the external_id in the URL.',
    param: 'X-User-Token',
    aspect: 'sub',
    expected: JSON.stringify(shorten(exchange.external_id ?? '')),
    came: JSON.stringify(shorten(sub)),
  })
}

/** spec: Idempotency-Key. Assumptions `idempotency-missing`, `idempotency-format`. */
function idempotencyKey({ endpoint, request }: RequestContext, { service: { settings } }: PipelineDeps): void {
  if (endpoint.idempotency === 'none') return
  const { pattern, words } = KEY_FORMS[settings.idempotency_key_format]
  const key = sentIdempotencyKey(request)
  if (key === undefined) {
    if (endpoint.idempotency === 'accepted') return
    const detail = `The Idempotency-Key header is required: ${words}, fresh per operation, the same for its retries.`
    throw new Problem('idempotency_key_required', {
      detail,
      param: 'Idempotency-Key',
      expected: words,
      came: 'nothing',
    })
  }
  if (!pattern.test(key)) {
    const detail = `Idempotency-Key must be ${words}.`
    throw new Problem('validation_error', { detail, param: 'Idempotency-Key', expected: words, came: shorten(key) })
  }
}

/** The Idempotency-Key, as {@link unquotedKey} gives it. */
export function sentIdempotencyKey(request: FastifyRequest): string | undefined {
  const value = header(request, 'idempotency-key')
  return value === undefined ? undefined : unquotedKey(value)
}

/** A header's value, several of one name joined. */
export function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** Whom the unverified token names: good enough to match a fault that strikes before verification. */
async function claimedTenant(request: FastifyRequest, { store }: Service): Promise<string | undefined> {
  const client = claimedClient(request.headers.authorization)
  return client === undefined ? undefined : (await store.find('tenants', 'client_id', client))?.slug
}

const SCHEME = /^bearer +/i

/** The client that an `Authorization` header names, unverified: good enough to choose what verifies it, and for nothing else. */
export function claimedClient(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  try {
    const { appid } = decodeJwt(authorization.replace(SCHEME, ''))
    return typeof appid === 'string' ? appid : undefined
  } catch {
    return undefined
  }
}
