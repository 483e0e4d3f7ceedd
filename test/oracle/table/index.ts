import { LIBRARIES } from './libraries.ts'
import { RIGHT } from './right.ts'
import type { Row } from './row.ts'
import { WRONG } from './wrong.ts'

/** Every client, and what the judge must say of it. */
export const ROWS: readonly Row[] = [...LIBRARIES, ...RIGHT, ...WRONG]
export { LIBRARIES, RIGHT, WRONG }
