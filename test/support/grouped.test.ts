import { expect, test } from 'vitest'
import { grouped } from '../../src/support/maps.ts'

test('groups and their items come in the order given; what has no name is left out', () => {
  const groups = grouped([5, 2, 0, 3, 4], (number) => (number === 0 ? undefined : number % 2))
  expect([...groups]).toEqual([
    [1, [5, 3]],
    [0, [2, 4]],
  ])
})

test('null is a name as any other', () => {
  expect([...grouped([{ of: null }, { of: 'a' }, { of: null }], (one) => one.of)]).toEqual([
    [null, [{ of: null }, { of: null }]],
    ['a', [{ of: 'a' }]],
  ])
})
