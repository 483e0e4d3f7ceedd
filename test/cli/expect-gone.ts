import { expect } from 'vitest'
import { stateOf } from '../helpers/children-of.ts'

/** Holds that a process is gone. One that has ended and that nobody has waited for is gone as well: its parent ended before it. */
export function expectGone(pid: number): void {
  expect(stateOf(pid)).toMatch(/^Z|^$/)
}
