import { OUTCOMES } from '../oracle/outcome.ts'
import type { ScenarioEvidence } from './evidence.ts'

/** "deposit of alice: left open (review)", "3 deposits: ..." */
export function operationInWords({
  type,
  external_id,
  outcome,
  level,
  count,
}: ScenarioEvidence['operations'][number]): string {
  const noun = type.replaceAll('_', ' ')
  const whose = external_id === null ? '' : ` of ${external_id}`
  return `${count > 1 ? `${count} × ` : ''}${noun}${whose}: ${OUTCOMES[outcome].title} (${level})`
}
