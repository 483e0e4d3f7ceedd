import type { Origin } from './origin.ts'
import type { ServiceSettings } from './service-settings.ts'

/**
 * The identity provider as an issuer: by the URL of the sandbox, or, at a tenant's own address, as Entra ID names itself
 * there. A strict client wants the issuer to be what it asked for the discovery document (OpenID Connect Discovery §4.3).
 */
export function issuerAt(url: string, tenantId?: string): string {
  return tenantId === undefined ? url : `${url}/${tenantId}/v2.0`
}

/** @returns true if both name one tenant in an address: MSAL writes the whole of it in lower case. */
export function isSameTenant(written: string, tenantId: string): boolean {
  return written.toLowerCase() === tenantId.toLowerCase()
}

/** @returns true if a token of the tenant may have this `iss`: the issuer, or the tenant's own, under any name of the sandbox. */
export function isIssuer(iss: unknown, tenantId: unknown, origin: Origin): boolean {
  const tenant = typeof tenantId === 'string' ? tenantId : undefined
  return origin.urls.some((url) => iss === issuerAt(url) || iss === issuerAt(url, tenant))
}

const SCHEME = 'api://'

/**
 * What an identity-provider token may be for: the service audience and, where scopes have two forms, the same with or without
 * `api://` in front. So Entra ID knows an application by its URI and by its id. Behaviour `other-scopes`.
 */
export function audiencesOf({
  audience,
  idp_scopes,
}: Pick<ServiceSettings, 'audience' | 'idp_scopes'>): readonly [string, ...string[]] {
  if (idp_scopes === 'one') return [audience]
  const id = audience.slice(SCHEME.length)
  return [audience, audience.startsWith(SCHEME) && id !== '' ? id : `${SCHEME}${audience}`]
}

/** What to ask the token endpoint for, to be given a token for that audience. spec: Identity-provider token 2 */
export function scopeOf(audience: string): string {
  return `${audience}/.default`
}
