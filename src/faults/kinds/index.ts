import type { FaultKind } from '../fault-kind.ts'
import { badSignature } from './bad-signature.ts'
import { dropConnection } from './drop-connection.ts'
import { expiredCursor } from './expired-cursor.ts'

/** Every kind of fault. A new kind is a file beside this one and a line here. */
export const KINDS: readonly FaultKind[] = [dropConnection, expiredCursor, badSignature]
