import { baseUrl } from './base-url.ts'
import type { Cause } from './cause.ts'
import { clientId } from './client-id.ts'
import { clientSecret } from './client-secret.ts'
import { idpTokenApplication } from './idp-token-application.ts'
import { idpTokenAudience } from './idp-token-audience.ts'
import { idpTokenClock } from './idp-token-clock.ts'
import { idpTokenIssuer } from './idp-token-issuer.ts'
import { tenantId } from './tenant-id.ts'
import { tokenRequest } from './token-request.ts'
import { tokenScope } from './token-scope.ts'
import { userTokenAudience } from './user-token-audience.ts'
import { userTokenClock } from './user-token-clock.ts'
import { userTokenIssuer } from './user-token-issuer.ts'
import { userTokenKey } from './user-token-key.ts'
import { userTokenKeyId } from './user-token-key-id.ts'

/** Every cause, in the order of a request's way: what is wrong first, first. A new one is a file beside this one and a line here. */
export const CAUSES: readonly Cause[] = [
  baseUrl,
  tokenRequest,
  clientId,
  clientSecret,
  tokenScope,
  idpTokenIssuer,
  idpTokenAudience,
  idpTokenApplication,
  tenantId,
  idpTokenClock,
  userTokenKeyId,
  userTokenKey,
  userTokenIssuer,
  userTokenAudience,
  userTokenClock,
]
