import { createHash } from 'node:crypto'
import type { Origin } from './origin.ts'
import type { ServiceSettings } from './service-settings.ts'

/**
 * The issuer (`iss`) of the identity provider: the URL of the sandbox, or, at a tenant's own address, in the form that Entra ID uses
 * there. A strict client expects the issuer whose discovery document it asked for (OpenID Connect Discovery §4.3).
 */
export function issuerAt(url: string, tenantId?: string): string {
  return tenantId === undefined ? url : `${url}/${tenantId}/v2.0`
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/**
 * The tenant's directory at the identity provider: its tenant id if that is a UUID, else one that always is the same for it. Directories of
 * Entra ID are UUIDs, and Microsoft's clients take no other form.
 */
export function directoryIdOf(tenantId: string): string {
  return UUID.test(tenantId) ? tenantId : uuidOf(`directory of ${tenantId}`)
}

/** A UUID (version 5 in form) that is always the same for a text. */
export function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const [version, variant] = [`5${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`]
  return [hex.slice(0, 8), hex.slice(8, 12), version, variant, hex.slice(20, 32)].join('-')
}

/**
 * The tenant's name in an address, its directory or its tenant id, as it is to be written; undefined if `written` is neither. MSAL writes
 * it in lower case.
 */
export function tenantInAddress(written: string, tenantId: string): string | undefined {
  return [directoryIdOf(tenantId), tenantId].find((id) => id.toLowerCase() === written.toLowerCase())
}

/** @returns true if a token with that `tid` may have this `iss`: the issuer, or the tenant's own, under any name of the sandbox */
export function isIssuer(iss: unknown, tenantId: unknown, origin: Origin): boolean {
  const tenant = typeof tenantId === 'string' ? tenantId : undefined
  return origin.urls.some((url) => iss === issuerAt(url) || iss === issuerAt(url, tenant))
}

const SCHEME = 'api://'

/**
 * Audiences that an identity-provider token may have: the service audience and, if scopes have two forms, also the form with or
 * without `api://` in front. Entra ID likewise knows an application by its URI and by its id. Behaviour `other-scopes`.
 */
export function audiencesOf({
  audience,
  idp_scopes,
}: Pick<ServiceSettings, 'audience' | 'idp_scopes'>): readonly [string, ...string[]] {
  if (idp_scopes === 'one') return [audience]
  const id = audience.slice(SCHEME.length)
  return [audience, audience.startsWith(SCHEME) && id !== '' ? id : `${SCHEME}${audience}`]
}

/** Scope to ask the token endpoint for, to get a token for this audience. spec: Identity-provider token 2 */
export function scopeOf(audience: string): string {
  return `${audience}/.default`
}
