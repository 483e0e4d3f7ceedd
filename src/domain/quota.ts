import type { SandboxClock } from './clock.ts'
import { Problem } from './errors.ts'

/** What a namespace may use; 0 sets no limit. */
export interface QuotaLimits {
  /** Requests to the service, to the token endpoint and by JSON-RPC, in a second of real time. */
  requestsPerSecond: number
  /** Bytes of the ledger's journal. */
  ledgerBytes: number
  /** Anvils at once. */
  anvils: number
}

/** Dependencies of {@link Quota}. */
export interface QuotaDeps {
  /** Name of the namespace. */
  name: string
  limits: QuotaLimits
  clock: Pick<SandboxClock, 'wallNow'>
  /** Bytes of the ledger's journal at present. */
  ledgerBytes(): number
}

/** Seconds after which a client may look whether there is room again. */
const FULL_RETRY_SECONDS = 5

/**
 * What a namespace may use of its sandbox, and has used. What is beyond is refused before anything of it is done; the refusal is recorded
 * with the check `quota`, by which the report knows that the sandbox refused it, and not the service.
 */
export class Quota {
  readonly #deps: QuotaDeps
  /** Requests that may come at once: it fills up within a second. */
  #room: number
  /** Real time at which {@link Quota.#room} was counted. */
  #countedAt: number

  constructor(deps: QuotaDeps) {
    this.#deps = deps
    this.#room = deps.limits.requestsPerSecond
    this.#countedAt = deps.clock.wallNow()
  }

  /** Counts a request. Throws Problem rate_limited if there were as many lately as there may be. */
  admitRequest(): void {
    const { limits, name } = this.#deps
    const { requestsPerSecond: most } = limits
    if (most === 0) return
    this.#count()
    if (this.#room >= 1) {
      this.#room -= 1
      return
    }
    const detail = `The sandbox lets the namespace "${name}" send ${most} requests a second (--quota-requests-per-second), and this is one more. Nothing was done; repeat it later.`
    throw new Problem('rate_limited', { detail, check: 'quota' })
  }

  /** Throws Problem service_unavailable if the ledger is as large as it may be. */
  admitWrite(): void {
    const { limits, name, ledgerBytes } = this.#deps
    const { ledgerBytes: most } = limits
    if (most === 0 || ledgerBytes() < most) return
    const detail = `The ledger of the namespace "${name}" has ${ledgerBytes()} bytes, and the sandbox lets it have ${most} (--quota-ledger-bytes). Nothing was done, and reads go on; reset the namespace, or make another one.`
    const headers = { 'retry-after': String(FULL_RETRY_SECONDS) }
    throw new Problem('service_unavailable', { detail, check: 'quota', headers })
  }

  /** Requests within the last second, as far as they count against the limit; 0 without one. */
  get requestsLately(): number {
    const { requestsPerSecond: most } = this.#deps.limits
    if (most === 0) return 0
    this.#count()
    return Math.ceil(most - this.#room)
  }

  #count(): void {
    const { requestsPerSecond: most } = this.#deps.limits
    const now = this.#deps.clock.wallNow()
    // The machine may have set its clock back.
    const passed = Math.max(0, now - this.#countedAt)
    this.#room = Math.min(most, this.#room + (passed * most) / 1000)
    this.#countedAt = now
  }
}
