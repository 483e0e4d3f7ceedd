import type { FaultKind } from '../fault-kind.ts'
import { badSignature } from './bad-signature.ts'
import { dropConnection } from './drop-connection.ts'
import { error } from './error.ts'
import { expiredCursor } from './expired-cursor.ts'
import { latency } from './latency.ts'
import { revert } from './revert.ts'
import { slowConfirmation } from './slow-confirmation.ts'
import { tokenExpired } from './token-expired.ts'
import { tokenWrongAudience } from './token-wrong-audience.ts'
import { unknownFields } from './unknown-fields.ts'

/** Every kind of fault. A new kind is a file beside this one and a line here. */
export const KINDS: readonly FaultKind[] = [
  dropConnection,
  latency,
  error,
  unknownFields,
  expiredCursor,
  badSignature,
  tokenExpired,
  tokenWrongAudience,
  revert,
  slowConfirmation,
]
