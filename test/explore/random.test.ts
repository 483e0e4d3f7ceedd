import { describe, expect, test } from 'vitest'
import { runHere } from '../cli/in-process.ts'

describe('explore --random', () => {
  test('takes a whole number, and not too great a one', async () => {
    for (const [value, words] of [
      ['x', 'whole number'],
      ['10001', 'at most 10000'],
    ] as const) {
      const { code, stderr } = await runHere(['explore', '--random', value, '--', 'true'])
      expect(code).toBe(2)
      expect(stderr).toContain(words)
    }
  })
})
