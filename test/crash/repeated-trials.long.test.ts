import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { WorkerExplorations } from './exploring-worker.ts'

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url))
const worker = { work: [process.execPath, WORKER], books: [], env: { MISTAKE: 'key-per-start' } }

const explorations = new WorkerExplorations()
afterAll(() => explorations[Symbol.dispose]())

test('a kill that is tried again by its name ends as it did', async () => {
  const { results } = await explorations.kill(worker, { operations: ['withdraw'] })
  expect(results.map(({ outcome }) => outcome)).toEqual(['paid_twice', 'paid_twice', 'lucky'])
  for (const { trial, outcome, sentences, end } of results) {
    const again = await explorations.kill(worker, { trial: trial.id })
    expect(again.results).toMatchObject([{ trial: { id: trial.id }, outcome, sentences, end }])
  }
})

test('so does a second kill of what was started again, which comes of the first alone', async () => {
  const wish = { operations: ['withdraw'], kinds: ['killed-unanswered'], depth: 2 } as const
  const { results, pairs } = await explorations.kill(worker, wish)
  const double = results.filter(({ trial }) => trial.harms.length === 2)
  const id = 'withdraw#1@customer-1 killed-unanswered + withdraw#2@customer-1 killed-unanswered'
  expect(double.map(({ trial, outcome }) => [trial.id, outcome])).toEqual([[id, 'paid_twice']])
  expect(pairs).toEqual({ possible: 1, reached: 1 })
  const again = await explorations.kill(worker, { trial: id })
  expect(again.results).toMatchObject([{ outcome: 'paid_twice', sentences: double[0]?.sentences }])
})
