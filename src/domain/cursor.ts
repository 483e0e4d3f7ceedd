import { createHmac, timingSafeEqual } from 'node:crypto'
import { decodeBase64 } from '../support/encodings.ts'
import type { SandboxClock } from './clock.ts'
import { Problem } from './errors.ts'
import type { SortKey } from './ports/store.ts'

/** How long a cursor is valid, in milliseconds of the sandbox clock; the last millisecond counts. spec: Pagination 1 */
export const CURSOR_LIFETIME = 7 * 24 * 60 * 60 * 1000

/** Bytes of HMAC-SHA256 a cursor carries: half of it, the least RFC 2104 allows. */
const SIGNATURE_BYTES = 16

/** A place in a list: next to the record with this sort key, as the list stood at a sequence of the store. */
export interface CursorPosition {
  key: SortKey
  /** {@link Store.sequence} when the cursor was issued. */
  up_to: number
}

/**
 * Opaque, signed positions in lists. A cursor is base64url of a truncated HMAC-SHA256 and the JSON it signs: issue time,
 * sequence, sort key. The scope (list, tenant, end user) is signed but not carried.
 */
export class CursorCodec {
  readonly #secret: Uint8Array
  readonly #clock: SandboxClock

  constructor({ secret, clock }: { secret: Uint8Array; clock: SandboxClock }) {
    this.#secret = secret
    this.#clock = clock
  }

  /** A cursor for either direction, valid in this scope alone. */
  issue({ scope, key, up_to }: CursorPosition & { scope: string }): string {
    const payload = Buffer.from(JSON.stringify([this.#clock.now(), up_to, ...key]))
    return Buffer.concat([this.#sign(scope, payload), payload]).toString('base64url')
  }

  /**
   * The position a cursor stands for. Throws the problem cursor_invalid for anything this codec did not issue for the
   * scope (spec: Pagination 5), else cursor_expired for a cursor past its lifetime (spec: Pagination 6), naming `param`.
   */
  read(cursor: string, scope: string, param: string): CursorPosition {
    const bytes = decodeBase64(cursor, 'base64url') ?? Buffer.alloc(0)
    const signature = bytes.subarray(0, SIGNATURE_BYTES)
    const payload = bytes.subarray(SIGNATURE_BYTES)
    const genuine = signature.length === SIGNATURE_BYTES && timingSafeEqual(signature, this.#sign(scope, payload))
    if (!genuine) {
      const detail = `${param} is not a cursor of this list: pass next_cursor or prev_cursor of an earlier page unchanged, on the list it came from`
      const came = bytes.length > SIGNATURE_BYTES ? 'a cursor of another list, or one that was changed' : 'no cursor'
      throw new Problem('cursor_invalid', { detail, param, expected: `a cursor of ${scope}`, came })
    }
    const [issuedAt, up_to, ...key]: [number, number, ...string[]] = JSON.parse(payload.toString())
    if (this.#clock.now() - issuedAt > CURSOR_LIFETIME) {
      const detail = `${param} was issued at ${new Date(issuedAt).toISOString()}, more than 7 days ago: fetch the first page for a fresh cursor`
      const expected = `issued at ${new Date(this.#clock.now() - CURSOR_LIFETIME).toISOString()} or later`
      const came = `issued at ${new Date(issuedAt).toISOString()}`
      throw new Problem('cursor_expired', { detail, param, expected, came })
    }
    return { key, up_to }
  }

  /** The scope goes in as JSON, so that no other split of scope and payload signs alike. */
  #sign(scope: string, payload: Uint8Array): Buffer {
    const mac = createHmac('sha256', this.#secret).update(JSON.stringify(scope)).update(payload)
    return mac.digest().subarray(0, SIGNATURE_BYTES)
  }
}
