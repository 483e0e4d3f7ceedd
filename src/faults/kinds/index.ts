import { type FaultKind, parametersOf } from '../fault-kind.ts'
import { apyChange } from './apy-change.ts'
import { badSignature } from './bad-signature.ts'
import { chainDown } from './chain-down.ts'
import { deprecation } from './deprecation.ts'
import { dropConnection } from './drop-connection.ts'
import { error } from './error.ts'
import { expiredCursor } from './expired-cursor.ts'
import { hang } from './hang.ts'
import { illiquidPool } from './illiquid-pool.ts'
import { insufficientRole } from './insufficient-role.ts'
import { invalidCursor } from './invalid-cursor.ts'
import { latency } from './latency.ts'
import { malformedBody } from './malformed-body.ts'
import { outage } from './outage.ts'
import { poolPaused } from './pool-paused.ts'
import { reorg } from './reorg.ts'
import { revert } from './revert.ts'
import { shortLivedToken } from './short-lived-token.ts'
import { slowConfirmation } from './slow-confirmation.ts'
import { stuck } from './stuck.ts'
import { tokenEndpointError } from './token-endpoint-error.ts'
import { tokenExpired } from './token-expired.ts'
import { tokenWrongAudience } from './token-wrong-audience.ts'
import { unknownFields } from './unknown-fields.ts'
import { unknownPartner } from './unknown-partner.ts'
import { unknownValues } from './unknown-values.ts'

/** Every kind of fault. A new kind is a file beside this one and a line here. */
export const KINDS = [
  dropConnection,
  outage,
  hang,
  latency,
  error,
  malformedBody,
  unknownFields,
  unknownValues,
  deprecation,
  expiredCursor,
  invalidCursor,
  badSignature,
  tokenExpired,
  tokenWrongAudience,
  tokenEndpointError,
  shortLivedToken,
  unknownPartner,
  insufficientRole,
  revert,
  stuck,
  slowConfirmation,
  reorg,
  chainDown,
  poolPaused,
  illiquidPool,
  apyChange,
] as const satisfies readonly FaultKind[]

/** Schema of each kind's `with`, by the kind's name. The type of a rule is made of these alone, not of what kinds are made of. */
export const PARAMETERS = parametersOf(KINDS)
