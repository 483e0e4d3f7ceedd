import { ERRORS, type ErrorCode } from '../domain/errors.ts'
import { OPERATIONS } from '../domain/operations.ts'
import type { RecordedExchange } from '../traffic/recorded-exchange.ts'
import type { Covered } from './report.ts'

/** Coverage of a client: how often each operation, error code and kind of fault occurred. */
export interface Coverage {
  operations: Covered[]
  errors: Covered[]
  faults: Covered[]
}

/** Rows of the fidelity manifest whose errors occur only at the control interface. */
const CONTROL_ROWS: ReadonlySet<string> = new Set(['sandbox-routes', 'namespaces'])

/** Codes of the token endpoint (RFC 6749 §5.2). */
const TOKEN_CODES = ['invalid_request', 'invalid_client', 'unsupported_grant_type', 'invalid_scope'] as const

/** Every code that the service or the token endpoint can answer with. */
export const ANSWERED_CODES: readonly string[] = [
  ...(Object.keys(ERRORS) as ErrorCode[]).filter((code) => !CONTROL_ROWS.has(ERRORS[code].row)),
  ...TOKEN_CODES,
]

/** Counts occurrences; `faultKinds` holds every kind, in the order of the report. */
export function coverageOf(exchanges: readonly RecordedExchange[], faultKinds: readonly string[]): Coverage {
  const operations = new Map<string, number>()
  const errors = new Map<string, number>()
  const faults = new Map<string, number>()
  for (const { operation, end, response, faults: struck } of exchanges) {
    if (operation !== null) count(operations, operation)
    if (end === 'answered' && typeof response?.code === 'string') count(errors, response.code)
    for (const { kind } of struck) count(faults, kind)
  }
  return {
    operations: covered(OPERATIONS, operations),
    errors: covered(ANSWERED_CODES, errors),
    faults: covered(faultKinds, faults),
  }
}

function count(counts: Map<string, number>, id: string): void {
  counts.set(id, (counts.get(id) ?? 0) + 1)
}

function covered(ids: readonly string[], counts: ReadonlyMap<string, number>): Covered[] {
  return ids.map((id) => ({ id, exercised: counts.has(id), count: counts.get(id) ?? 0 }))
}
