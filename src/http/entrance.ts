import { IncomingMessage } from 'node:http'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from '../domain/operations.ts'
import type { Origin } from '../domain/origin.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { Connection } from './connection.ts'
import { onceOver } from './exchange.ts'
import type { PipelineDeps } from './pipeline.ts'
import { isRecorded, openRecord } from './record.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Time of arrival, in milliseconds since the Unix epoch, if the request waits to enter its namespace. */
    arrived: number | undefined
  }
}

/** Dependencies of {@link Entrance}. */
export interface EntranceDeps {
  /** The same for all namespaces. */
  settings: ServiceSettings
  log: FastifyBaseLogger
  /** The sandbox that a request came to: one application serves a sandbox and its guests. */
  sandboxOf(request: IncomingMessage): EnteredSandbox
}

/** A sandbox as requests enter it. */
export interface EnteredSandbox {
  /** The namespace that every sandbox has. */
  fallback: PipelineDeps
  /** Returns the namespace of a request, by its head alone. */
  namespaceOf(request: FastifyRequest): PipelineDeps | Promise<PipelineDeps>
  /** The client's namespace, or the one that every sandbox has. */
  namespaceOfClient(clientId: string): PipelineDeps | Promise<PipelineDeps>
  /** If set, its pages and its description are open to people who may not know the sandbox's data. */
  controlToken: string | undefined
  /** Address of the sandbox. */
  origin: Origin
}

/** Leads every request to its namespace, before any other step. */
export class Entrance {
  readonly #deps: EntranceDeps
  readonly #version: string
  readonly #requestId: string
  /** First part of every path of the service. */
  readonly #service: string

  constructor(deps: EntranceDeps) {
    this.#deps = deps
    this.#version = `x-${deps.settings.name}-api-version`.toLowerCase()
    this.#requestId = `x-${deps.settings.name}-request-id`.toLowerCase()
    this.#service = `${deps.settings.base_path}/v1/`
  }

  /** Chooses the namespace by the request's head. Returns at once unless the namespace has to be opened first; then it may reject. */
  open(request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
    const { log, sandboxOf } = this.#deps
    const sandbox = sandboxOf(request.raw)
    const { fallback } = sandbox
    request.log = log
    reply.log = log
    request.namespace = fallback
    const { clientInBody, operation = null } = request.routeOptions.config ?? {}
    // Its form names the client, and with it the namespace, and is not read yet.
    if (clientInBody) return this.#letWait(request, reply)
    const namespace = sandbox.namespaceOf(request)
    if (!(namespace instanceof Promise)) return this.enter(request, reply, namespace, operation)
    return namespace.then(
      (opened) => this.enter(request, reply, opened, operation),
      (error: unknown) => {
        this.enter(request, reply, fallback, operation)
        throw error
      },
    )
  }

  /** Puts the request into the namespace, which gives it an id. spec: Versioning 2: every response carries the version and that id. */
  enter(request: FastifyRequest, reply: FastifyReply, namespace: PipelineDeps, operation: Operation | null): void {
    request.namespace = namespace
    request.id = namespace.ids.next('req')
    reply.header(this.#version, '1.0.0')
    reply.header(this.#requestId, request.id)
    const { on } = namespace.exchanges
    if (!isRecorded(request.url, this.#service)) {
      if (on) Connection.known(request.raw.socket)?.goesOn()
    } else if (on) openRecord(request, reply, { operation, arrived: request.arrived })
    else countWhenOver(request, reply, operation)
  }

  /** Puts the request into its provisional namespace, unless it has entered one. */
  enterAnyway(request: FastifyRequest, reply: FastifyReply): void {
    if (request.id === '') this.enter(request, reply, request.namespace, 'token')
  }

  /** Lets the request wait until its form is read or its connection has ended. */
  #letWait(request: FastifyRequest, reply: FastifyReply): void {
    const { exchanges, service } = request.namespace
    if (!exchanges.on || !(request.raw instanceof IncomingMessage)) return
    request.arrived = service.clock.wallNow()
    Connection.of(request.raw.socket).enter = () => this.enterAnyway(request, reply)
  }
}

/** Counts a request of a namespace that records nothing; otherwise its record does. */
function countWhenOver({ raw, namespace }: FastifyRequest, reply: FastifyReply, operation: Operation | null): void {
  if (!(raw instanceof IncomingMessage)) return
  const { exchanges, service } = namespace
  const began = service.clock.wallNow()
  onceOver(raw, reply.raw, () => {
    const now = service.clock.wallNow()
    exchanges.counts.take(operation, reply.raw.writableFinished ? reply.raw.statusCode : 0, now - began, now)
  })
}
