import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { ServiceSettings } from '../domain/service-settings.ts'
import type { PipelineDeps } from './pipeline.ts'

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

  constructor(deps: EntranceDeps) {
    this.#deps = deps
    this.#version = `x-${deps.settings.name}-api-version`.toLowerCase()
    this.#requestId = `x-${deps.settings.name}-request-id`.toLowerCase()
  }

  /** By what its head says. Resolves at once unless the namespace has to be opened first; then it may reject. */
  open(request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
    const { log, fallback } = this.#deps
    request.log = log
    reply.log = log
    request.namespace = fallback
    // Its form says which: it is not read yet.
    if (request.routeOptions.config?.clientInBody) return
    const namespace = this.#deps.namespaceOf(request)
    if (!(namespace instanceof Promise)) return this.enter(request, reply, namespace)
    return namespace.then(
      (opened) => this.enter(request, reply, opened),
      (error: unknown) => {
        this.enter(request, reply, fallback)
        throw error
      },
    )
  }

  /** Puts it into the namespace, which gives it an id. spec: Versioning 2. Every response carries the version and its own request id. */
  enter(request: FastifyRequest, reply: FastifyReply, namespace: PipelineDeps): void {
    request.namespace = namespace
    request.id = namespace.ids.next('req')
    reply.header(this.#version, '1.0.0')
    reply.header(this.#requestId, request.id)
  }

  /** Puts it into the namespace it was left with, unless it has entered one. */
  enterAnyway(request: FastifyRequest, reply: FastifyReply): void {
    if (request.id === '') this.enter(request, reply, request.namespace)
  }
}
