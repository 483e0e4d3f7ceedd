import { IncomingMessage } from 'node:http'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from '../domain/operations.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { Connection } from './connection.ts'
import type { PipelineDeps } from './pipeline.ts'
import { isRecorded, openRecord } from './record.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** When it came in, in milliseconds since the Unix epoch, if it waits to enter its namespace. */
    arrived: number | undefined
  }
}

/** What a request is led to its namespace by. */
export interface EntranceDeps {
  /** The same for every namespace. */
  settings: ServiceSettings
  log: FastifyBaseLogger
  /** The namespace that a request is for, as far as its head tells. */
  namespaceOf(request: FastifyRequest): PipelineDeps | Promise<PipelineDeps>
  /** The one that every sandbox has. */
  fallback: PipelineDeps
}

/** Leads every request to its namespace, before anything else is done with it. */
export class Entrance {
  readonly #deps: EntranceDeps
  readonly #version: string
  readonly #requestId: string
  /** What every path of the service begins with. */
  readonly #service: string

  constructor(deps: EntranceDeps) {
    this.#deps = deps
    this.#version = `x-${deps.settings.name}-api-version`.toLowerCase()
    this.#requestId = `x-${deps.settings.name}-request-id`.toLowerCase()
    this.#service = `${deps.settings.base_path}/v1/`
  }

  /** By what its head says. Resolves at once unless the namespace has to be opened first; then it may reject. */
  open(request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
    const { log, fallback } = this.#deps
    request.log = log
    reply.log = log
    request.namespace = fallback
    const { clientInBody, operation = null } = request.routeOptions.config ?? {}
    // Its form says which: it is not read yet.
    if (clientInBody) return this.#letWait(request, reply)
    const namespace = this.#deps.namespaceOf(request)
    if (!(namespace instanceof Promise)) return this.enter(request, reply, namespace, operation)
    return namespace.then(
      (opened) => this.enter(request, reply, opened, operation),
      (error: unknown) => {
        this.enter(request, reply, fallback, operation)
        throw error
      },
    )
  }

  /** Puts it into the namespace, which gives it an id. spec: Versioning 2. Every response carries the version and its own request id. */
  enter(request: FastifyRequest, reply: FastifyReply, namespace: PipelineDeps, operation: Operation | null): void {
    request.namespace = namespace
    request.id = namespace.ids.next('req')
    reply.header(this.#version, '1.0.0')
    reply.header(this.#requestId, request.id)
    if (!namespace.exchanges.on) return
    if (isRecorded(request.url, this.#service)) openRecord(request, reply, { operation, arrived: request.arrived })
    else Connection.known(request.raw.socket)?.goesOn()
  }

  /** Puts it into the namespace it was left with, unless it has entered one. */
  enterAnyway(request: FastifyRequest, reply: FastifyReply): void {
    if (request.id === '') this.enter(request, reply, request.namespace, 'token')
  }

  /** Until its form is read, or its connection has ended. */
  #letWait(request: FastifyRequest, reply: FastifyReply): void {
    const { exchanges, service } = request.namespace
    if (!exchanges.on || !(request.raw instanceof IncomingMessage)) return
    request.arrived = service.clock.wallNow()
    Connection.of(request.raw.socket).enter = () => this.enterAnyway(request, reply)
  }
}
