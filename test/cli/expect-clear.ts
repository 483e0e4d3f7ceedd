import { expect } from 'vitest'
import type { Ended } from './command.ts'

/** One clear line, perhaps with a hint after it; never a stack, and nothing on stdout. */
export function expectClear({ code, stdout, stderr }: Ended, expected: { code: number; line: RegExp }): void {
  const [first = '', ...rest] = stderr.trimEnd().split('\n')
  expect(first).toMatch(expected.line)
  expect(stderr).not.toMatch(/^\s+at |node:internal|UnhandledPromise/m)
  expect(rest.filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(2)
  expect({ code, stdout }).toEqual({ code: expected.code, stdout: '' })
}
