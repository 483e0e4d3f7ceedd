import { formDecode } from '../support/encodings.ts'
import { jsonObject } from '../support/json.ts'
import { rawHeaderOf } from './headers.ts'
import type { LiveExchange } from './live-exchange.ts'
import { bearerToken, claimsOf } from './show-token.ts'

/** Finds tenants. */
export interface TenantDirectory {
  /** Slug of the tenant of a client id; undefined for none. */
  tenantOf(clientId: string): string | undefined
}

/** Determines once for which tenant and end user a request was sent: by its own claims where nothing was verified. */
export function whoAsked(live: LiveExchange, { tenantOf }: TenantDirectory): void {
  if (live.tenant === undefined) {
    const client = live.operation === 'token' ? clientIdOf(live) : appidOf(live)
    live.tenant = (client !== null && tenantOf(client)) || null
  }
  if (live.external_id === undefined) live.external_id = externalIdOf(live) ?? null
}

/** The client that asks for a token, by the form or HTTP Basic; null if it names none, or the request is for something else. */
export function clientIdOf({ operation, headers, body }: LiveExchange): string | null {
  if (operation !== 'token') return null
  const inForm = new URLSearchParams(body ?? '').get('client_id')
  if (inForm) return inForm
  const encoded = /^basic +(\S+)$/i.exec(rawHeaderOf(headers, 'authorization')?.trim() ?? '')?.[1]
  if (encoded === undefined) return null
  const id = Buffer.from(encoded, 'base64').toString().split(':', 1)[0] ?? ''
  return (formDecode(id) ?? id) || null
}

function appidOf({ headers }: LiveExchange): string | null {
  const appid = claimsOf(bearerToken(rawHeaderOf(headers, 'authorization')))?.appid
  return typeof appid === 'string' ? appid : null
}

function externalIdOf({ operation, url, body }: LiveExchange): string | undefined {
  if (operation === null) return undefined
  if (operation === 'create_end_user') {
    const wanted = jsonObject(body)?.external_id
    return typeof wanted === 'string' ? wanted : undefined
  }
  const inPath = /\/end_users\/([^/?]+)\//.exec(url)?.[1]
  return inPath === undefined ? undefined : percentDecode(inPath)
}

function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Maximum number of end users that are counted separately; the others of an operation and tenant are counted together. */
const MAX_END_USERS = 100_000

/** By operation, tenant and end user. */
type Counts = Map<string | null, Map<string | null | undefined, Map<string | null | undefined, number>>>

/** Counts exchanges by operation, tenant and end user. */
export class Ordinals {
  readonly #counts: Counts

  constructor(counts: Counts = new Map()) {
    this.#counts = counts
  }

  /** Counts the exchange and returns its ordinal, from 1. */
  count({ operation, tenant, external_id }: Pick<LiveExchange, 'operation' | 'tenant' | 'external_id'>): number {
    const tenants = entry(this.#counts, operation, () => new Map())
    const users = entry(tenants, tenant, () => new Map())
    const user = users.size < MAX_END_USERS || users.has(external_id) ? external_id : null
    const count = (users.get(user) ?? 0) + 1
    users.set(user, count)
    return count
  }

  /** A copy that counts on from here. */
  copy(): Ordinals {
    const copied: Counts = new Map()
    for (const [operation, tenants] of this.#counts) {
      copied.set(operation, new Map([...tenants].map(([tenant, users]) => [tenant, new Map(users)])))
    }
    return new Ordinals(copied)
  }
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
