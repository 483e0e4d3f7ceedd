import { vi } from 'vitest'
import { PATIENCE } from './patience.ts'

/** Repeats a check until it passes, and returns what it returned; throws what it last threw when patience ends. */
export function eventually<Result>(check: () => Result | Promise<Result>, interval = 20): Promise<Result> {
  return vi.waitFor(check, { timeout: PATIENCE, interval })
}
