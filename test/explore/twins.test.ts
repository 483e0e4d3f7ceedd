import { afterAll, expect, test } from 'vitest'
import { everywhere, TwinWorkers } from './twin-workers.ts'

const workers = new TwinWorkers()
afterAll(() => workers[Symbol.dispose]())

// Every variant at every point, and what never ends: twins.long.test.ts. One that pays twice: test/cli/explore-twins.test.ts.
test('a worker that is run twice at once survives with keys that it stores before it sends', async () => {
  const kinds = ['twin-while-under-way', 'twins-at-once-1']
  expect(await workers.outcomes({}, { operations: ['deposit'], kinds, maxRuns: 3 })).toEqual({
    ...everywhere(['deposit#1', 'deposit#2'], 'survived', ['twin-while-under-way']),
    'deposit#1@alice twins-at-once-1': 'survived',
  })
})
