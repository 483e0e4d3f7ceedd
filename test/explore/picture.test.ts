import { expect, test } from 'vitest'
import { exploration } from './picture.ts'

// The picture itself: picture.long.test.ts.
test('the client of the picture pays twice at one place alone', async () => {
  const { results } = await exploration()
  const bad = results.filter(({ level }) => level === 'critical' || level === 'serious')
  expect(bad.map(({ trial, outcome }) => [trial.id, outcome])).toEqual([['deposit#1@carol cut-json', 'paid_twice']])
})
