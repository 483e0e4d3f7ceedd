import type { Static, TSchema } from '@sinclair/typebox'
import type { ApiResponse } from '../domain/api-response.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { Operation } from '../domain/operations.ts'
import type { Claim, Tenant } from '../domain/records.ts'
import type { Service } from '../domain/service.ts'
import type { TransferPhase, TransferUnderWay } from '../domain/transfers.ts'

/** One authenticated, validated request as a handler sees it. */
export interface EndpointRequest<P = unknown, Q = unknown, B = unknown> {
  tenant: Tenant
  params: P
  query: Q
  body: B
  /** Held when the request carries an Idempotency-Key. */
  claim?: Claim
  /** Told of a transfer's phases: faults strike here. */
  onPhase(phase: TransferPhase, transfer: TransferUnderWay): Promise<void>
}

/** What can be named in a request, for the examples of the description. */
export interface Known {
  external_id: string
  portfolio_id: string
  /** One the tenant may use. */
  pool: { chain_id: string; token_address: string; market_address: string; protocol: string }
}

/** The answer to a request that went well. */
interface Success {
  status: number
  description: string
  schema: TSchema
  example: unknown
  /** Where the status is from: `specification`, or the id of a row of the fidelity manifest. */
  source: string
}

/** An endpoint: what it needs, what it takes and gives, and the handler. */
export interface Endpoint {
  operation: Exclude<Operation, 'token'>
  method: 'GET' | 'POST'
  /** Fastify's form of the path. */
  url: string
  /** Needs X-User-Token with `sub` equal to the path's external_id. */
  user_token: boolean
  idempotency: 'required' | 'accepted' | 'none'
  summary: string
  description: string
  params?: TSchema
  querystring?: TSchema
  body?: TSchema
  success: Success
  /** A body that works when it is tried. */
  bodyExample?(known: Known): object
  /** Codes it can answer with, beyond those its credentials imply. */
  errors: readonly ErrorCode[]
  /** Ids of the assumptions behind the endpoint as a whole. */
  assumptions?: readonly string[]
  handle(call: EndpointRequest, service: Service): Promise<ApiResponse>
}

interface TypedEndpoint<P extends TSchema, Q extends TSchema, B extends TSchema>
  extends Omit<Endpoint, 'params' | 'querystring' | 'body' | 'handle'> {
  params?: P
  querystring?: Q
  body?: B
  handle(call: EndpointRequest<Static<P>, Static<Q>, Static<B>>, service: Service): Promise<ApiResponse>
}

/** Gives the handler the types of its schemas: the pipeline has validated against them before it calls. */
export function defineEndpoint<P extends TSchema, Q extends TSchema, B extends TSchema>(
  endpoint: TypedEndpoint<P, Q, B>,
): Endpoint {
  return endpoint as Endpoint
}
