import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiResponse } from '../domain/api-response.ts'
import type { Problem } from '../domain/errors.ts'
import type { Answer, Drop, Exchange, TokenWish } from '../domain/exchange.ts'
import type { Operation } from '../domain/operations.ts'
import type { Tenant } from '../domain/records.ts'

/** What the exchange needs to know of its operation. */
export interface ExchangeTarget {
  operation: Operation
  user_token: boolean
  /** Writes an error as this operation does; `type` is its media type. */
  render(problem: Problem): ApiResponse & { type: string }
}

/** An {@link Exchange} over a Fastify request. */
export class HttpExchange implements Exchange {
  readonly request_id: string
  readonly operation: Operation
  readonly external_id: string | undefined
  readonly has_cursor: boolean
  readonly has_user_token: boolean
  /** Set by the token step; a fault that strikes earlier sees {@link HttpExchange.claimedTenant}. */
  verifiedTenant: Tenant | undefined
  /** Slug of the tenant the unverified token names. */
  claimedTenant: string | undefined
  answer: Answer | undefined
  tokenWish: TokenWish = {}
  /** Bytes of the body to send before the connection is closed. */
  truncateAfter: number | undefined
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #render: ExchangeTarget['render']

  constructor(request: FastifyRequest, reply: FastifyReply, target: ExchangeTarget) {
    this.#request = request
    this.#reply = reply
    this.#render = target.render
    this.request_id = request.id
    this.operation = target.operation
    this.has_user_token = target.user_token
    this.external_id = member(request.params, 'external_id')
    this.has_cursor =
      member(request.query, 'starting_after') !== undefined || member(request.query, 'ending_before') !== undefined
  }

  get tenant(): string | undefined {
    return this.verifiedTenant?.slug ?? this.claimedTenant
  }

  /** The tenant of the verified token. Throws when asked before the token step: a mistake in the pipeline's order. */
  requireTenant(): Tenant {
    if (!this.verifiedTenant) throw new Error('the identity-provider token step has not run')
    return this.verifiedTenant
  }

  /** Whether a fault has ended or answered the exchange: nothing more may be written. */
  get dropped(): boolean {
    return this.#reply.sent
  }

  drop(drop: Drop): void {
    if (drop.how === 'truncate') {
      this.truncateAfter = drop.bytes
      return
    }
    this.#takeOver()
    const { socket } = this.#request.raw
    if (drop.how === 'reset') socket.resetAndDestroy()
    else socket.destroy()
  }

  hang(until: AbortSignal): void {
    this.#takeOver()
    const { socket } = this.#request.raw
    const letGo = () => socket.destroy()
    until.addEventListener('abort', letGo, { once: true })
    socket.once('close', () => until.removeEventListener('abort', letGo))
  }

  answerNow(problem: Problem): void {
    if (this.dropped) return
    const { status, headers, body, type } = this.#render(problem)
    const changed = { ...headers, 'content-type': type }
    // The answer is being written: this is what it becomes, for the faults that follow as well.
    if (this.answer) {
      this.answer = { status, headers: { ...this.answer.headers, ...changed }, body: JSON.stringify(body) }
      return
    }
    const { raw } = this.#reply
    this.#takeOver()
    for (const [name, value] of Object.entries({ ...this.#reply.getHeaders(), ...changed })) {
      if (value !== undefined) raw.setHeader(name, value)
    }
    raw.writeHead(status).end(JSON.stringify(body))
  }

  #takeOver(): void {
    if (!this.#reply.sent) this.#reply.hijack()
  }
}

function member(container: unknown, name: string): string | undefined {
  if (container === null || typeof container !== 'object' || !Object.hasOwn(container, name)) return undefined
  const value: unknown = Reflect.get(container, name)
  return typeof value === 'string' ? value : undefined
}
