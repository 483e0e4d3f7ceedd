import { expect, test } from 'vitest'
import { shorten } from '../../src/support/foreign-text.ts'

test.each([
  ['', ''],
  ['abcde', 'abcde'],
  ['abcdef', 'abcd…'],
])('of %j, at most five characters are %j', (text, shortened) => {
  expect(shorten(text, 5)).toBe(shortened)
})

test('a hundred characters are left unless something else is said', () => {
  expect(shorten('x'.repeat(100))).toBe('x'.repeat(100))
  expect(shorten('x'.repeat(101))).toBe(`${'x'.repeat(99)}…`)
})
