import { createHmac, timingSafeEqual } from 'node:crypto'
import { decodeBase64 } from '../support/encodings.ts'
import type { SandboxClock } from './clock.ts'
import { Problem } from './errors.ts'
import {
  type Collection,
  type CollectionShape,
  type Collections,
  type PageResult,
  SHAPES,
  type SortKey,
  type Store,
} from './ports/store.ts'

/** Page size of a request that names none. spec: Limits */
export const DEFAULT_LIMIT = 25

/** Largest page size a request may name. spec: Limits */
export const MAX_LIMIT = 100

/** Query parameters of every list; `limit` is already checked to be a whole number from 1 to {@link MAX_LIMIT}. */
export interface PageParameters {
  limit?: number | undefined
  starting_after?: string | undefined
  ending_before?: string | undefined
}

/** spec: Paginated envelope */
export interface Page<Item> {
  data: Item[]
  has_more: boolean
  next_cursor: string | null
  prev_cursor: string | null
}

/** A request for one page of a list. */
export interface ListRequest<C extends Collection> {
  collection: C
  /** Scope of the collection's ordered list. */
  scope: string
  /** Scope that binds a cursor: the list's name, the tenant and, if there is one, the end user. */
  cursor_scope: string
  query: PageParameters
}

/** The paging parameters of a request, with its cursor read. */
interface ParsedPage {
  limit: number
  direction: 'forward' | 'backward'
  /** Absent on the first page. */
  position?: CursorPosition
}

/**
 * Reads the paging parameters. Throws the problem conflicting_cursors if both cursors are given (spec: Pagination 4),
 * cursor_invalid or cursor_expired if the one given is not good.
 */
export function parsePage(parameters: PageParameters, cursors: CursorCodec, cursor_scope: string): ParsedPage {
  const { limit = DEFAULT_LIMIT, starting_after, ending_before } = parameters
  if (starting_after !== undefined && ending_before !== undefined) {
    const detail = 'starting_after and ending_before were both given: pass one of them'
    const expected = 'starting_after or ending_before'
    throw new Problem('conflicting_cursors', { detail, param: 'ending_before', expected, came: 'both' })
  }
  if (ending_before !== undefined) {
    const position = cursors.read(ending_before, cursor_scope, 'ending_before')
    return { limit, direction: 'backward', position }
  }
  if (starting_after === undefined) return { limit, direction: 'forward' }
  return { limit, direction: 'forward', position: cursors.read(starting_after, cursor_scope, 'starting_after') }
}

/**
 * Returns one page of a collection's ordered list in its envelope (keyset pagination). A request repeated with the same cursor gets
 * the same rows: records put since the cursor was issued are left out. The page's own cursors are of the present and lead to them
 * (spec: Pagination 3). Throws the problems of {@link parsePage}.
 */
export async function list<C extends Collection>(
  { store, cursors }: { store: Store; cursors: CursorCodec },
  { collection, scope, cursor_scope, query }: ListRequest<C>,
): Promise<Page<Collections[C]>> {
  const parsed = parsePage(query, cursors, cursor_scope)
  const { limit, direction, position } = parsed
  const bound = position && { [direction === 'forward' ? 'after' : 'before']: position.key, up_to: position.up_to }
  const result = await store.page(collection, { scope, limit, ...bound })
  // Read after the page: a record that made has_next true is then within the range that the next cursor may show.
  const up_to = store.sequence

  const { first, last } = ends(collection, result, parsed)
  const cursor = (key: SortKey) => cursors.issue({ scope: cursor_scope, key, up_to })
  return {
    data: result.items,
    has_more: result.has_next, // assumption: has-more
    next_cursor: result.has_next ? cursor(last) : null,
    prev_cursor: result.has_previous ? cursor(first) : null,
  }
}

/** The sort keys of the page's first and last record, or, on an empty page, positions next to the cursor. */
function ends<C extends Collection>(
  collection: C,
  { items }: PageResult<Collections[C]>,
  { direction, position }: ParsedPage,
): { first: SortKey; last: SortKey } {
  const shape: CollectionShape<Collections[C]> = SHAPES[collection]
  if (!shape.list) throw new RangeError(`${collection} has no ordered list`)
  const first = items[0]
  const last = items.at(-1)
  if (first && last) return { first: shape.list.key(first), last: shape.list.key(last) }

  // Turning round on an empty page must find the cursor's own record again, if it still exists. A key with an empty member added
  // sorts directly behind it. There is no key directly ahead of it, so in that direction the list is entered from its end.
  const near = position?.key ?? []
  const far = (shape.list.order === 'asc') === (direction === 'forward') ? [...near, ''] : []
  return direction === 'forward' ? { first: far, last: near } : { first: near, last: far }
}

/** Lifetime of a cursor, in milliseconds of the sandbox clock; the last millisecond counts. spec: Pagination 1 */
export const CURSOR_LIFETIME = 7 * 24 * 60 * 60 * 1000

/** Bytes of HMAC-SHA256 in a cursor: half of the digest, the minimum that RFC 2104 allows. */
const SIGNATURE_BYTES = 16

/** A position in a list: next to the record with this sort key, in the list's state at a sequence of the store. */
interface CursorPosition {
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

  /** Issues a cursor for either direction, valid in this scope only. */
  issue({ scope, key, up_to }: CursorPosition & { scope: string }): string {
    const payload = Buffer.from(JSON.stringify([this.#clock.now(), up_to, ...key]))
    return Buffer.concat([this.#sign(scope, payload), payload]).toString('base64url')
  }

  /**
   * Returns the position of a cursor. Throws the problem cursor_invalid for a cursor that this codec did not issue for the scope
   * (spec: Pagination 5), and cursor_expired for one past its lifetime (spec: Pagination 6); both name `param`.
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

  /** Signs the scope as JSON, so that no other split into scope and payload has the same signature. */
  #sign(scope: string, payload: Uint8Array): Buffer {
    const mac = createHmac('sha256', this.#secret).update(JSON.stringify(scope)).update(payload)
    return mac.digest().subarray(0, SIGNATURE_BYTES)
  }
}
