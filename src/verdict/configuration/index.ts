import { baseUrl } from './base-url.ts'
import type { Cause } from './cause.ts'
import { idpTokenApplication, idpTokenAudience, idpTokenClock, idpTokenIssuer } from './idp-token-causes.ts'
import { tenantId } from './tenant-id.ts'
import { clientId, clientSecret, tokenRequest, tokenScope } from './token-request-causes.ts'
import {
  userTokenAudience,
  userTokenClock,
  userTokenIssuer,
  userTokenKey,
  userTokenKeyId,
} from './user-token-causes.ts'

/** Every cause, in the order of a request's way: what is wrong first, first. A new one stands beside those of its token, and here. */
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
