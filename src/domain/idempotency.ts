import { createHash } from 'node:crypto'
import { canonicalJson } from '../support/json.ts'
import type { ApiResponse } from './api-response.ts'
import type { SandboxClock } from './clock.ts'
import { Problem } from './errors.ts'
import type { Operation } from './operations.ts'
import type { Store, Write } from './ports/store.ts'
import type { Claim, IdempotencyRecord } from './records.ts'
import type { ServiceSettings } from './service-settings.ts'

/** Who shares a key: one tenant, one operation, one external_id. Assumption `idempotency-scope`. */
export interface IdempotencyScope {
  tenant_id: string
  operation: Operation
  external_id: string
  key: string
}

/** A request that may be repeated under an Idempotency-Key. */
export interface IdempotentRequest {
  scope: IdempotencyScope
  body: unknown
  /** The request, as an error body names it. */
  origin: Pick<Claim, 'request_id' | 'instance'>
  /** Must commit what {@link Idempotency.keep} gives itself when it succeeds. */
  operation(claim: Claim): Promise<ApiResponse>
  /** Told what becomes of it, unless it is refused: it runs the operation, joins the one that does, or is given what was kept. */
  onUse?(use: 'first' | 'joined' | 'replayed'): void
  /** Told of an error of the operation that becomes its response, and is kept. */
  onKeptProblem?(problem: Problem): void
}

/** An operation's response, and whether it was an earlier request that caused it. */
export interface IdempotentResult {
  response: ApiResponse
  replayed: boolean
}

/** Expired records that one new one may take away: more than one, so that a backlog shrinks. */
const PURGED_AT_ONCE = 4

/** Repetitions of one operation under one Idempotency-Key happen once. */
export class Idempotency {
  readonly #running = new Map<string, { fingerprint: string; result: Promise<ApiResponse> }>()
  readonly #deps: IdempotencyDeps

  constructor(deps: IdempotencyDeps) {
    this.#deps = deps
  }

  /**
   * Runs the operation, joins the one that still runs, or answers what was kept (spec: endpoint 5, rule 3).
   * Throws Problem idempotency_key_in_use_with_different_params and, if so set, idempotency_key_in_progress.
   */
  async run(request: IdempotentRequest): Promise<IdempotentResult> {
    const { key } = request.scope
    // A UUID is the same in either case; of what is opaque, nobody knows.
    const sameCase = this.#deps.settings.idempotency_key_format === 'uuid_v4' ? key.toLowerCase() : key
    const id = scopeId({ ...request.scope, key: sameCase })
    const fingerprint = fingerprintOf(request.body)
    const running = this.#running.get(id)
    if (running) {
      if (running.fingerprint !== fingerprint) throw mismatch()
      if (this.#deps.settings.idempotency_in_flight === 'conflict') throw inProgress()
      request.onUse?.('joined')
      return { response: await running.result, replayed: true }
    }
    let replayed = false
    const result = this.#kept(id, fingerprint).then((kept) => {
      request.onUse?.(kept ? 'replayed' : 'first')
      if (!kept) return this.#execute({ id, fingerprint, ...request.origin }, request)
      replayed = true
      return kept
    })
    this.#running.set(id, { fingerprint, result })
    try {
      return { response: await result, replayed }
    } finally {
      this.#running.delete(id)
    }
  }

  /**
   * The writes that keep an outcome under its key, to be committed together with the operation's own writes. They take
   * away some of what has expired, so that what is kept does not grow with time.
   */
  async keep(claim: Claim, outcome: ApiResponse | Problem): Promise<Write[]> {
    const { store, clock, render } = this.#deps
    const { status, body } = outcome instanceof Problem ? render(outcome, claim) : outcome
    const { id, fingerprint } = claim
    const oldest = await store.page('idempotency_keys', { scope: 'all', limit: PURGED_AT_ONCE })
    return [
      ...oldest.items
        // One that is used anew may be put before these writes are committed.
        .filter((record) => this.#isExpired(record) && !this.#running.has(record.id))
        .map((record): Write => ({ collection: 'idempotency_keys', remove: record.id })),
      { collection: 'idempotency_keys', put: { id, fingerprint, status, body, created_at_ms: clock.now() } },
    ]
  }

  #isExpired({ created_at_ms }: IdempotencyRecord): boolean {
    return this.#deps.clock.now() - created_at_ms > this.#deps.settings.idempotency_ttl
  }

  async #kept(id: string, fingerprint: string): Promise<ApiResponse | undefined> {
    const record = await this.#deps.store.get('idempotency_keys', id)
    if (!record || this.#isExpired(record)) return undefined
    if (record.fingerprint !== fingerprint) throw mismatch()
    return { status: record.status, body: record.body }
  }

  async #execute(claim: Claim, request: IdempotentRequest): Promise<ApiResponse> {
    try {
      return await request.operation(claim)
    } catch (error) {
      if (!(error instanceof Problem) || !isKept(error)) throw error
      request.onKeptProblem?.(error)
      const response = this.#deps.render(error, claim)
      await this.#deps.store.commit(await this.keep(claim, response))
      return response
    }
  }
}

/**
 * Only what the operation itself decided is kept (assumption `idempotency-errors`): not what was refused before it
 * began, nor a failure on our side, after which the same key must be able to try again.
 */
function isKept({ status }: Problem): boolean {
  return status < 500 && ![400, 401, 403, 429].includes(status)
}

function scopeId({ tenant_id, operation, external_id, key }: IdempotencyScope): string {
  return [tenant_id, operation, external_id, key].join('/')
}

function fingerprintOf(body: unknown): string {
  return createHash('sha256').update(canonicalJson(body)).digest('base64url')
}

function mismatch(): Problem {
  return new Problem('idempotency_key_in_use_with_different_params', {
    detail: 'This Idempotency-Key was used with another request body; use a fresh UUID v4 for a new operation.',
    param: 'Idempotency-Key',
    expected: 'the body that the key was used with first',
    came: 'another body',
  })
}

function inProgress(): Problem {
  return new Problem('idempotency_key_in_progress', {
    detail: 'The first request with this Idempotency-Key still runs; repeat the request later.',
    param: 'Idempotency-Key',
    headers: { 'retry-after': '1' },
  })
}

/** Everything idempotency needs. */
export interface IdempotencyDeps {
  store: Store
  clock: SandboxClock
  settings: ServiceSettings
  /** Turns an error of the operation into the response that is kept for its repetitions. */
  render(problem: Problem, claim: Claim): ApiResponse
}
