import type { Static, TSchema } from '@sinclair/typebox'
import type { ApiResponse } from '../domain/api-response.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { Operation } from '../domain/operations.ts'
import type { Claim, Tenant } from '../domain/records.ts'
import type { Service } from '../domain/service.ts'
import type { TransferPhase, TransferStep, TransferUnderWay } from '../domain/transfers.ts'

/** One authenticated, validated request, as passed to a handler. */
export interface EndpointRequest<P = unknown, Q = unknown, B = unknown> {
  tenant: Tenant
  params: P
  query: Q
  body: B
  /** Held if the request carries an Idempotency-Key. */
  claim?: Claim
  /** Called at every phase of a transfer, where faults may strike. */
  onPhase(phase: TransferPhase, transfer: TransferUnderWay): Promise<void>
  /** Called at every step of a transfer; see `TransferRequest.onStep`. */
  onStep(step: TransferStep, number?: number): void
}

/** Values that requests in the description's examples can name. */
export interface Known {
  external_id: string
  portfolio_id: string
  /** A pool that the tenant may use. */
  pool: { chain_id: string; token_address: string; market_address: string; protocol: string }
}

/** The answer to a successful request. */
interface Success {
  status: number
  description: string
  schema: TSchema
  example: unknown
  /** Source of the status: `specification`, or the id of a row of the fidelity manifest. */
  source: string
}

/** An endpoint: its requirements, schemas and handler. */
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
  /** A body that succeeds when a reader tries it. */
  bodyExample?(known: Known): object
  /** Codes that it can answer with, beyond those that its credentials imply. */
  errors: readonly ErrorCode[]
  /** Ids of the assumptions behind the endpoint as a whole. */
  assumptions?: readonly string[]
  /** Answers at once if it need not wait. */
  handle(call: EndpointRequest, service: Service): ApiResponse | Promise<ApiResponse>
}

interface TypedEndpoint<P extends TSchema, Q extends TSchema, B extends TSchema>
  extends Omit<Endpoint, 'params' | 'querystring' | 'body' | 'handle'> {
  params?: P
  querystring?: Q
  body?: B
  handle(call: EndpointRequest<Static<P>, Static<Q>, Static<B>>, service: Service): ApiResponse | Promise<ApiResponse>
}

/** Gives the handler the types of its schemas, which the pipeline has validated before the call. */
export function defineEndpoint<P extends TSchema, Q extends TSchema, B extends TSchema>(
  endpoint: TypedEndpoint<P, Q, B>,
): Endpoint {
  return endpoint as Endpoint
}
