import { readWords } from './fault-header.ts'

/** Parameters that are the rule's own. */
const RULE = new Set(['phase', 'skip', 'times', 'probability', 'in_a_row'])
/** Parameters that say where it applies. */
const MATCH = new Set(['operation', 'tenant', 'external_id', 'end_user', 'ordinal'])

/**
 * A rule on one line, as the header X-Sandbox-Fault has it, but one for many requests, which can say where and how often:
 * `drop_connection; phase=after_broadcast; operation=deposit; times=2`.
 */
export function parseFaultText(text: string): Record<string, unknown> {
  return readWords(text, RULE, MATCH)
}
