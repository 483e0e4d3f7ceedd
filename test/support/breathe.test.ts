import { expect, test } from 'vitest'
import { inTurns } from '../../src/support/breathe.ts'

test('long work lets others have their turn, and meets all there is in order', async () => {
  const seen: (number | string)[] = []
  setImmediate(() => seen.push('another'))
  for await (const item of inTurns([1, 2, 3, 4, 5], 2)) seen.push(item)
  expect(seen).toEqual([1, 2, 'another', 3, 4, 5])
})
