import type { FastifyReply, FastifyRequest } from 'fastify'
import { decodeJwt } from 'jose'
import { isControlToken } from '../control/guard.ts'
import { challengeOf, Problem } from '../domain/errors.ts'
import type { Exchange } from '../domain/exchange.ts'
import { KEY_FORMS, unquotedKey } from '../domain/idempotency-key.ts'
import { directoryIdOf } from '../domain/idp-claims.ts'
import type { Ids } from '../domain/ids.ts'
import type { NamespaceStorage } from '../domain/ports/namespace-storage.ts'
import type { Quota } from '../domain/quota.ts'
import type { Tenant } from '../domain/records.ts'
import type { Service } from '../domain/service.ts'
import type { FaultEngine } from '../faults/fault-engine.ts'
import type { Endpoint } from '../partner-api/endpoint.ts'
import { shorten } from '../support/foreign-text.ts'
import type { ExchangeLog } from '../traffic/exchange-log.ts'
import type { HttpExchange } from './exchange.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The request's namespace; set before any other step. */
    namespace: PipelineDeps
    /** Result for its identity-provider token, if the way to the namespace already looked at it. */
    seenToken: { refusal: Problem | undefined } | undefined
  }
}

/** Claims of a verified identity-provider token, by which its tenant is found. */
interface ClientClaims {
  appid: string
  tid: string
}

/** The parts of a namespace that requests need. */
export interface PipelineDeps {
  name: string
  service: Service
  /** Makes the ids of requests too. */
  ids: Ids
  faults: FaultEngine
  /** Record of its clients' requests and the answers. */
  exchanges: ExchangeLog
  /** Tokens of which a request needs one to bring a fault along: the sandbox's, and the namespace's own; empty if none is needed. */
  controlTokens: readonly string[]
  /** Key that the URL of its JSON-RPC needs for sending transactions; undefined if none is needed. */
  rpcKey: string | undefined
  /** At once if it knows the token. Throws Problem token_missing or invalid_idp_token. */
  verifyIdpToken(request: Pick<FastifyRequest, 'headers' | 'seenToken'>): ClientClaims | Promise<ClientClaims>
  /** Called with every answer that is about to be written whole; it finishes before the client can send its next request. */
  answered(exchange: Exchange, status: number): void
  /** Aborted by the next reset or stop. */
  generation(): AbortSignal
  /** Aborted when the namespace ends. */
  end: AbortSignal
  /** Reason why the sandbox cannot serve yet; undefined if it can. */
  notReady(): string | undefined
  /** Limits of what the namespace may use; undefined if there are none. */
  quota: Quota | undefined
  /** Its storage, if another process may take that over: with a database. */
  storage: Pick<NamespaceStorage, 'lost' | 'holds' | 'renewed' | 'awaySince'> | undefined
}

/** One request on its way through the pipeline. */
export interface RequestContext {
  endpoint: Endpoint
  /** The generation that let it in; aborted when a reset begins another. */
  generation: AbortSignal
  exchange: HttpExchange
  request: FastifyRequest
  reply: FastifyReply
}

/** Returns a promise only if it has to wait. */
export type PipelineStep = (context: RequestContext, deps: PipelineDeps) => void | Promise<void>

/**
 * The steps of a request before its body is read, in the order in which errors win (assumption `error-precedence`). Then Fastify reads
 * the body and validates path, query and body against the endpoint's schemas, and `handle.ts` claims the key, runs the handler and
 * settles the key. Nothing else runs in between. `shared`: the state is in a database.
 */
export function stepsOf(shared: boolean): readonly PipelineStep[] {
  const atTheDoor = shared ? [ready, storageAnswers] : [ready]
  return [...atTheDoor, quota, faultsOnRequest, identityProviderToken, role, userToken, idempotencyKey]
}

/** Throws Problem sandbox_starting unless the sandbox is ready and still of the generation that let the request in. */
export function ready({ generation }: RequestContext, deps: PipelineDeps): void {
  refuseUnlessReady(deps.notReady() ?? (generation.aborted ? 'The sandbox was reset meanwhile.' : undefined))
}

/** Throws Problem rate_limited. */
function quota(_context: RequestContext, deps: PipelineDeps): void {
  deps.quota?.admitRequest()
}

/** Throws Problem sandbox_starting if there is a reason not to serve. */
export function refuseUnlessReady(reason: string | undefined): void {
  if (reason) throw new Problem('sandbox_starting', { detail: reason })
}

/** Refuses new writes while they could not be stored; reads go on. Throws Problem service_unavailable. */
function storageAnswers({ endpoint }: RequestContext, { storage }: PipelineDeps): void {
  if (endpoint.method !== 'GET') refuseWhileAway(storage)
}

/** Throws Problem service_unavailable while the storage does not answer. */
export function refuseWhileAway(storage: PipelineDeps['storage']): void {
  if (storage?.awaySince === undefined) return
  const detail = 'The database does not answer at present, so nothing was done. Send the same request again.'
  throw new Problem('service_unavailable', { detail, headers: { 'retry-after': '2' } })
}

/** Applies the rules in force, and the fault that the request itself may bring along in `X-Sandbox-Fault`. */
function faultsOnRequest(context: RequestContext, deps: PipelineDeps): void | Promise<void> {
  const { exchange, request } = context
  bringFault(request, exchange, deps)
  if (deps.faults.concerns(exchange)) return strikeOnRequest(context, deps)
}

async function strikeOnRequest(context: RequestContext, deps: PipelineDeps): Promise<void> {
  const { exchange, request } = context
  exchange.claimedTenant = claimedTenant(request, deps.service)
  await deps.faults.at('on_request', exchange)
  // A fault may have held the request until a reset.
  ready(context, deps)
}

/**
 * Accepts the fault that a request brings along in `X-Sandbox-Fault`. As with the control interface, the request needs the control token,
 * if there is one. Throws Problem control_token_required or validation_error.
 */
export function bringFault(
  request: FastifyRequest,
  exchange: HttpExchange,
  { faults, controlTokens }: Pick<PipelineDeps, 'faults' | 'controlTokens'>,
): void {
  const fault = header(request, 'x-sandbox-fault')
  if (fault === undefined) return
  const given = header(request, 'x-sandbox-control-token')
  if (controlTokens.length > 0 && !controlTokens.some((token) => isControlToken(given, token))) {
    const headers = { 'www-authenticate': challengeOf('control_token_required', given !== undefined) }
    const detail =
      'X-Sandbox-Fault needs the control token printed at start, or that of the namespace, in X-Sandbox-Control-Token.'
    throw new Problem('control_token_required', { detail, param: 'X-Sandbox-Control-Token', headers })
  }
  faults.bring(fault, exchange)
}

/** spec: Identity-provider token 4 to 6. Assumption `idp-token-issuer`: the token is of the tenant that its appid belongs to. */
function identityProviderToken({ exchange, request }: RequestContext, deps: PipelineDeps): void | Promise<void> {
  const claims = deps.verifyIdpToken(request)
  const enter = (verified: ClientClaims) => {
    exchange.verifiedTenant = tenantOf(verified, deps.service)
  }
  return claims instanceof Promise ? claims.then(enter) : enter(claims)
}

function tenantOf({ appid, tid }: ClientClaims, { store }: Service): Tenant {
  const tenant = store.find('tenants', 'client_id', appid)
  if (!tenant) {
    throw new Problem('unknown_partner', {
      detail: 'The appid claim matches no registered tenant.',
      param: 'Authorization',
      aspect: 'appid',
      expected: 'the client_id of a tenant',
      came: JSON.stringify(shorten(appid)),
    })
  }
  // The directory is a hash of ids that are no UUIDs: it is asked for last.
  const directory = tid === tenant.tenant_id ? tid : directoryIdOf(tenant.tenant_id)
  if (tid !== directory) {
    const detail = `The identity-provider token was refused: its tid is not ${directory}, the directory of its appid.`
    const flaw = { aspect: 'tid', expected: JSON.stringify(directory), came: JSON.stringify(shorten(tid)) }
    throw new Problem('invalid_idp_token', { detail, param: 'Authorization', ...flaw })
  }
  return tenant
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
function userToken(context: RequestContext, { service }: PipelineDeps): void | Promise<void> {
  if (context.endpoint.user_token) return verifyUserToken(context, service)
}

async function verifyUserToken({ exchange, request }: RequestContext, service: Service): Promise<void> {
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

/** The request's Idempotency-Key, in the form of {@link unquotedKey}. */
export function sentIdempotencyKey(request: FastifyRequest): string | undefined {
  const value = header(request, 'idempotency-key')
  return value === undefined ? undefined : unquotedKey(value)
}

/** A header's value; several values are joined by commas. */
export function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** The tenant that the unverified token names: sufficient to match a fault that strikes before verification. */
function claimedTenant(request: FastifyRequest, { store }: Service): string | undefined {
  const client = claimedClient(request.headers.authorization)
  return client === undefined ? undefined : store.find('tenants', 'client_id', client)?.slug
}

const SCHEME = /^bearer +/i

/** The client that an `Authorization` header names, unverified: only for choosing the namespace that verifies it. */
export function claimedClient(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  try {
    const { appid } = decodeJwt(authorization.replace(SCHEME, ''))
    return typeof appid === 'string' ? appid : undefined
  } catch {
    return undefined
  }
}
