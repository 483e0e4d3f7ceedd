import { expect, test } from 'vitest'
import { booked, outcomes, transfer } from './story.ts'

// How they are judged: judge-operations.test.ts.
test('ten thousand operations take time by their number', () => {
  const story = Array.from({ length: 10_000 }, (_, i) => transfer({ key: `k${i}`, at: i * 20 }))
  const ledger = story.map((_, i) => booked(`k${i}`))
  expect(outcomes(story, ledger).length).toBe(10_000)
})
