import { expect, test } from 'vitest'
import { BoundedMap } from '../../src/support/maps.ts'

test('a full map lets go of what was set first, for a new key only', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2)
  expect([...map]).toEqual([
    ['a', 1],
    ['b', 2],
  ])
  map.set('a', 3)
  expect([...map]).toEqual([
    ['a', 3],
    ['b', 2],
  ])
  map.set('c', 4)
  expect([...map]).toEqual([
    ['b', 2],
    ['c', 4],
  ])
})
