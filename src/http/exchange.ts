import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiResponse, ShownTotal } from '../domain/api-response.ts'
import type { Problem } from '../domain/errors.ts'
import type { Answer, Drop, Exchange, IdpTokenChanges, StruckBy } from '../domain/exchange.ts'
import { unquotedKey } from '../domain/idempotency-key.ts'
import type { Operation } from '../domain/operations.ts'
import type { Tenant } from '../domain/records.ts'
import type { TransferUnderWay } from '../domain/transfers.ts'
import { resetConnection } from './connection.ts'
import { readAhead } from './read-body.ts'
import { headersOf, noteAnswer, noteAnswered, noteDrop, noteRefusal } from './record.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for operations that faults can strike. A member, since a weak map of them costs a third of a request. */
    exchange: HttpExchange | null
  }
}

/** The exchange's knowledge of its operation. */
export interface ExchangeTarget {
  operation: Operation
  user_token: boolean
  /** Writes an error in the form of this operation; `type` is its media type. */
  render(problem: Problem, request: FastifyRequest): ApiResponse & { type: string }
}

/** The worth of portfolios that an answer shows. */
export interface Shown {
  totals: readonly ShownTotal[]
  /** True if the answer repeats an old one. */
  again: boolean
  /** True if it answers a transfer. */
  ofTransfer: boolean
}

/** Ways in which a fault ended the connection of an exchange. */
export type Ending = 'reset' | 'closed' | 'truncated'

/** An {@link Exchange} over a Fastify request. */
export class HttpExchange implements Exchange {
  readonly request_id: string
  readonly operation: Operation
  readonly external_id: string | undefined
  readonly has_user_token: boolean
  /** Set by the token step; a fault that strikes earlier sees {@link HttpExchange.claimedTenant}. */
  verifiedTenant: Tenant | undefined
  /** Slug of the tenant that the unverified token names. */
  claimedTenant: string | undefined
  /** Also the answer that a fault has given early. */
  answer: Answer | undefined
  tokenWish: IdpTokenChanges = {}
  ending: Ending | undefined
  /** The running handler, unless it answers at once; it goes on when the connection has ended. */
  work: Promise<unknown> | undefined
  /** The transfer that this exchange itself carries out. */
  transfer: TransferUnderWay | undefined
  /** Result of the operation, whether or not the client gets it. */
  outcome: ApiResponse | undefined
  /** The worth of portfolios that the answer shows, if it reaches the client unchanged. */
  shows: Shown | undefined
  /** The request's body, if it was read before the parser's turn. */
  body: Buffer | undefined
  /** Bytes of the body to send before the connection is closed. */
  truncateAfter: number | undefined
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #render: ExchangeTarget['render']
  #over: AbortController | undefined
  #struckBy: StruckBy | undefined

  constructor(request: FastifyRequest, reply: FastifyReply, target: ExchangeTarget) {
    this.#request = request
    this.#reply = reply
    this.#render = target.render
    this.request_id = request.id
    this.operation = target.operation
    this.has_user_token = target.user_token
    this.external_id = member(request.params, 'external_id')
  }

  get struckBy(): StruckBy | undefined {
    return this.#struckBy
  }

  set struckBy(fault: StruckBy | undefined) {
    this.#struckBy = fault
    if (this.#request.record) this.#request.record.struckBy = fault ?? null
  }

  get has_cursor(): boolean {
    const { query } = this.#request
    return member(query, 'starting_after') !== undefined || member(query, 'ending_before') !== undefined
  }

  get host(): string | undefined {
    return this.#request.headers.host?.toLowerCase()
  }

  get idempotency_key(): string | undefined {
    const key = member(this.#request.headers, 'idempotency-key')
    return key === undefined ? undefined : unquotedKey(key).toLowerCase()
  }

  get tenant(): string | undefined {
    return this.verifiedTenant?.slug ?? this.claimedTenant
  }

  /** The tenant of the verified token. Throws before the token step: that would be a mistake in the pipeline's order. */
  requireTenant(): Tenant {
    if (!this.verifiedTenant) throw new Error('the identity-provider token step has not run')
    return this.verifiedTenant
  }

  /** True if a fault has ended or answered the exchange: nothing more may be written. */
  get dropped(): boolean {
    return this.#reply.sent
  }

  /** True if the connection is gone: nobody can read an answer. */
  get lost(): boolean {
    return this.#request.raw.socket.destroyed
  }

  /** Made at first use: most exchanges hold nothing that must be released. */
  get over(): AbortSignal {
    if (!this.#over) {
      const over = new AbortController()
      this.#over = over
      onceOver(this.#request.raw, this.#reply.raw, () => over.abort())
    }
    return this.#over.signal
  }

  readBody(): Promise<void> {
    return readAhead(this.#request, this.#request.namespace.service.clock)
  }

  drop(drop: Drop): void {
    if (drop.how === 'truncate') {
      this.truncateAfter = drop.bytes
      return
    }
    this.#takeOver()
    const { socket } = this.#request.raw
    const ending = drop.how === 'reset' ? 'reset' : 'closed'
    if (!this.lost) this.ending = ending
    noteDrop(this.#request, ending)
    if (drop.how === 'reset') resetConnection(socket)
    else socket.destroy()
  }

  hang(until: AbortSignal): void {
    this.#takeOver()
    if (this.lost) return
    const letGo = () => this.drop({ how: 'close' })
    if (until.aborted) {
      letGo()
      return
    }
    until.addEventListener('abort', letGo, { once: true })
    this.over.addEventListener('abort', () => until.removeEventListener('abort', letGo), { once: true })
  }

  answerNow(problem: Problem): void {
    if (this.dropped) return
    problem.details.check ??= 'fault'
    noteRefusal(this.#request, problem)
    const { status, headers, body, type } = this.#render(problem, this.#request)
    const changed = { ...headers, 'content-type': type }
    const beingWritten = this.answer
    this.answer = { status, headers: { ...beingWritten?.headers, ...changed }, body: JSON.stringify(body) }
    if (beingWritten) return
    const { raw } = this.#reply
    this.#takeOver()
    for (const [name, value] of Object.entries({ ...this.#reply.getHeaders(), ...changed })) {
      if (value !== undefined) raw.setHeader(name, value)
    }
    raw.writeHead(status).end(this.answer.body)
    noteAnswer(this.#request, status, headersOf(this.#reply), this.answer.body)
    noteAnswered(this.#request)
  }

  #takeOver(): void {
    if (!this.#reply.sent) this.#reply.hijack()
  }
}

/** A string member of an object; undefined if it has none of that name. */
export function member(container: unknown, name: string): string | undefined {
  if (container === null || typeof container !== 'object' || !Object.hasOwn(container, name)) return undefined
  const value: unknown = Reflect.get(container, name)
  return typeof value === 'string' ? value : undefined
}

/** Calls back once: when the response is out, or as soon as its connection has ended. */
export function onceOver({ socket }: IncomingMessage, response: ServerResponse, callback: () => void): void {
  if (socket.destroyed) {
    callback()
    return
  }
  const over = () => {
    response.off('close', over)
    socket.off('close', over)
    callback()
  }
  response.once('close', over)
  if (response.socket) return
  // A pipelined response waits for its turn and does not hear of the connection until then.
  socket.setMaxListeners(0)
  socket.once('close', over)
}
