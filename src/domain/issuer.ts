import type { Origin } from './origin.ts'

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
