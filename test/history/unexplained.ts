import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkHistory } from './check-history.ts'
import type { Observation } from './recorded-history.ts'

/** What has no explanation in a history, in sentences; the last one names the file in which the history then is. */
export function unexplained(history: readonly Observation[], name: string): string[] {
  const violations = checkHistory(history).map(({ rule, message }) => `${rule}: ${message}`)
  if (violations.length === 0) return []
  const file = join(tmpdir(), `yield-sandbox-history-${name}.json`)
  writeFileSync(file, JSON.stringify(history))
  return [...violations, `the history is in ${file}`]
}
