import type { Logger } from '../../src/support/logger.ts'

/** A log that remembers what was warned of. */
export function recordedLog(): Logger & { warnings: string[] } {
  const warnings: string[] = []
  return { warnings, debug() {}, info() {}, warn: (_, message) => warnings.push(message), error() {} }
}
