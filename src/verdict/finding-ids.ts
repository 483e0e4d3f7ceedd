import { shorten } from '../support/foreign-text.ts'
import { suggest } from '../support/nearest.ts'

/** Every finding, in the order in which a report shows those of the same impact. */
export const FINDING_IDS = [
  'idempotency-key-on-retry',
  'idempotency-key-after-error',
  'single-transfer',
  'outcome-after-drop',
  'idempotency-key-per-operation',
  'idempotency-key-format',
  'reverted-transfer',
  'permanent-errors',
  'client-timeout',
  'retry-after',
  'retry-pace',
  'polling-pace',
  'amount-format',
  'amount-scale',
  'market-address',
  'unknown-field-tolerance',
  'expired-cursor-restart',
  'cursor-integrity',
  'cursor-scope',
  'cursor-direction',
  'single-cursor',
  'pagination-completion',
  'idp-token-reuse',
  'idp-token-expiry',
  'idp-token-refresh',
  'user-token-header',
  'user-token-lifetime',
  'user-token-subject',
  'user-token-refresh',
  'credential-placement',
  'connection-reuse',
  'deprecation-notice',
] as const

/** Id of a finding. */
export type FindingId = (typeof FINDING_IDS)[number]

/** Ids in scenario files from before there were findings, and their successors. */
const RENAMED: Readonly<Record<string, FindingId>> = {
  'retries-keep-the-key': 'idempotency-key-on-retry',
  'no-duplicate-transfers': 'single-transfer',
  'restarts-expired-lists': 'expired-cursor-restart',
  'renews-user-tokens': 'user-token-refresh',
  'refreshes-idp-tokens-once': 'idp-token-refresh',
  'reverted-transfers-take-a-fresh-key': 'reverted-transfer',
  'waits-sixty-seconds': 'client-timeout',
  'ignores-unknown-fields': 'unknown-field-tolerance',
}

/** @returns true if it is the id of a finding */
export function isFindingId(word: string): word is FindingId {
  return (FINDING_IDS as readonly string[]).includes(word)
}

/** Explains why a word is not the id of a finding, and proposes one; undefined when it is. */
export function objectionTo(word: string): { message: string; fix: string } | undefined {
  if (isFindingId(word)) return undefined
  const renamed = Object.hasOwn(RENAMED, word) ? RENAMED[word] : undefined
  if (renamed) return { message: `the finding "${word}" has a new name`, fix: `write "${renamed}"` }
  return { message: `there is no finding "${shorten(word)}"`, fix: suggest(word, FINDING_IDS) }
}
