import { expect, test } from 'vitest'
import { columnLines } from '../../src/render/columns.ts'

test('columns stand below their headings, numbers to the right', () => {
  expect(
    columnLines(
      ['name', 'n'],
      [
        ['a', '10'],
        ['longer', '5'],
      ],
      { right: [1] },
    ),
  ).toEqual(['name     n', 'a       10', 'longer   5'])
})

test('a long last column is wrapped below itself, unless there is no room', () => {
  const rows = [['id', 'one two three four five six seven']]
  expect(columnLines([], rows, { width: 30 })).toEqual(['id  one two three four five', '    six seven'])
  expect(columnLines([], rows, { width: 20 })).toEqual(['id  one two three four five six seven'])
})
