import type { Origin } from './origin.ts'
import type { ServiceSettings } from './service-settings.ts'

/**
 * The issuer (`iss`) of the identity provider: the URL of the sandbox, or, at a tenant's own address, in the form that Entra ID uses
 * there. A strict client expects the issuer whose discovery document it asked for (OpenID Connect Discovery §4.3).
 */
export function issuerAt(url: string, tenantId?: string): string {
  return tenantId === undefined ? url : `${url}/${tenantId}/v2.0`
}

/** @returns true if both are one tenant id in an address: MSAL writes it in lower case */
export function isSameTenant(written: string, tenantId: string): boolean {
  return written.toLowerCase() === tenantId.toLowerCase()
}

/** @returns true if a token of the tenant may have this `iss`: the issuer, or the tenant's own, under any name of the sandbox */
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
