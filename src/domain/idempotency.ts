import { createHash } from 'node:crypto'
import { canonicalJson } from '../support/json.ts'
import type { ApiResponse } from './api-response.ts'
import type { SandboxClock } from './clock.ts'
import { Problem } from './errors.ts'
import type { Operation } from './operations.ts'
import type { Store, Write } from './ports/store.ts'
import type { Claim, IdempotencyRecord } from './records.ts'
import type { ServiceSettings } from './service-settings.ts'

/** Scope in which a key is unique: one tenant, one operation, one external_id. Assumption `idempotency-scope`. */
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
  /** The request's id and path, which an error body contains. */
  origin: Pick<Claim, 'request_id' | 'instance'>
  /** On success the operation itself must commit the writes of {@link Idempotency.keep}. */
  operation(claim: Claim): Promise<ApiResponse>
  /** Called before the operation begins; throws to refuse the request as long as nothing is kept under its key. */
  admit?(): void
  /** Called unless the request is refused: it runs the operation, joins a running one, or gets the kept response. */
  onUse?(use: 'first' | 'joined' | 'replayed'): void
  /** Called with an error of the operation that becomes its response and is kept. */
  onKeptProblem?(problem: Problem): void
}

/** An operation's response; `replayed` is true if an earlier request caused it. */
export interface IdempotentResult {
  response: ApiResponse
  replayed: boolean
}

/** Most expired records that one new record removes: more than one, so that a backlog shrinks. */
const PURGED_AT_ONCE = 4

/** Carries out an operation once for all requests with one Idempotency-Key. */
export class Idempotency {
  readonly #running = new Map<string, { fingerprint: string; result: Promise<ApiResponse> }>()
  readonly #deps: IdempotencyDeps

  constructor(deps: IdempotencyDeps) {
    this.#deps = deps
  }

  /**
   * Runs the operation, joins the running one, or answers with the kept response (spec: endpoint 5, rule 3).
   * Throws Problem idempotency_key_in_use_with_different_params and, by that setting, idempotency_key_in_progress.
   */
  async run(request: IdempotentRequest): Promise<IdempotentResult> {
    const { key } = request.scope
    // Case does not matter in a UUID; it may matter in an opaque key.
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
      if (!kept) request.admit?.()
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
   * Returns the writes that keep an outcome under its key, to be committed together with the operation's own writes. They also remove
   * some expired records, so that the store does not grow with time.
   */
  async keep(claim: Claim, outcome: ApiResponse | Problem): Promise<Write[]> {
    const { store, clock, render } = this.#deps
    const { status, body } = outcome instanceof Problem ? render(outcome, claim) : outcome
    const { id, fingerprint } = claim
    const oldest = await store.page('idempotency_keys', { scope: 'all', limit: PURGED_AT_ONCE })
    return [
      ...oldest.items
        // A key that is being used again may be written before these writes are committed.
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
 * Only decisions of the operation itself are kept (assumption `idempotency-errors`). A refusal before it began is not kept, nor is
 * a failure of the service, after which the same key must be able to try again.
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

/** Dependencies of {@link Idempotency}. */
export interface IdempotencyDeps {
  store: Store
  clock: SandboxClock
  settings: ServiceSettings
  /** Turns an error of the operation into the response that is kept for repetitions. */
  render(problem: Problem, claim: Claim): ApiResponse
}
