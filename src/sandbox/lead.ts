import type { FastifyRequest } from 'fastify'
import type { IdpTokenVerifier } from '../auth/idp-token-verifier.ts'
import { Ids } from '../domain/ids.ts'
import { claimedClient, type PipelineDeps } from '../http/pipeline.ts'
import { routed } from '../http/routing.ts'
import { SeededRandom } from '../support/random.ts'
import type { Namespaces } from './namespaces.ts'

/** Paths of the control interface, the chains and the inspector's page, as browsers ask for it. */
const BESIDE = /^\/(?:_sandbox\/|rpc\/|inspector\/[^/]*$|favicon\.ico$|$)/
/** Derives another seed, so that the ids of these requests are not drawn from any namespace's stream. */
const OTHER = 0x9e3779b9

/** Leads requests to their namespaces, in constant time, and before they touch anything of another namespace. */
export class Lead {
  readonly #namespaces: Namespaces
  /** For requests beside the service, so that looking at a namespace does not change its ids. */
  readonly #none: PipelineDeps
  readonly #idpTokens: IdpTokenVerifier

  constructor(namespaces: Namespaces, idpTokens: IdpTokenVerifier) {
    this.#namespaces = namespaces
    this.#idpTokens = idpTokens
    const { base, fallback } = namespaces
    const random = new SeededRandom((base.seed ^ OTHER) >>> 0)
    this.#none = { ...fallback, ids: new Ids({ clock: fallback.service.clock, random }) }
  }

  /** Makes ids of requests beside the service. */
  get ids(): Ids {
    return this.#none.ids
  }

  /**
   * Chooses the namespace by the request's token, once the sandbox has verified that it signed the token: by an unverified claim
   * anybody could use up the faults of a namespace and fill its record. A token request names its client in the body: {@link byClient}.
   */
  byHead = (request: FastifyRequest): PipelineDeps | Promise<PipelineDeps> => {
    // Step 1 of docs/a-deposit.md.
    const { url, headers } = request
    if (BESIDE.test(routed(url))) return this.#none
    if (this.#namespaces.alone) return this.#namespaces.fallback
    const { authorization } = headers
    const known = this.#idpTokens.knownClient(authorization)
    if (known !== undefined) return this.byClient(known)
    const claimed = claimedClient(authorization)
    if (claimed === undefined || !this.#namespaces.leadsElsewhere(claimed)) return this.#namespaces.fallback
    return this.#bySeenToken(request)
  }

  async #bySeenToken(request: FastifyRequest): Promise<PipelineDeps> {
    const seen = await this.#idpTokens.see(request.headers.authorization)
    request.seenToken = seen
    return this.byClient(seen.client)
  }

  /** The namespace of a client; the default one for unknown clients. Rejects as {@link Namespaces.ofClient}. */
  byClient = (clientId: string | undefined): PipelineDeps | Promise<PipelineDeps> => {
    const namespace = clientId === undefined ? undefined : this.#namespaces.ofClient(clientId)
    if (namespace instanceof Promise) return namespace.then(({ http }) => http)
    return namespace?.http ?? this.#namespaces.fallback
  }
}
