import { expect, test } from 'vitest'
import { oneLine } from '../../src/support/foreign-text.ts'

test.each([
  ['', ''],
  ['  two\r\n\twords\u0000 ', 'two words'],
  ['\u001b[31mIt panicked\u001b[0m\nMessage:  \u001b[36moverflow\u001b[0m', 'It panicked Message: overflow'],
  ['\u001b]0;title\u0007rest', '0;title rest'],
  ['é'.repeat(40), 'é'.repeat(40)],
  ['x'.repeat(41), `${'x'.repeat(39)}…`],
  [`${' '.repeat(900)}x`, ''],
])('%j as one clean line', (text, line) => {
  expect(oneLine(text, 40)).toBe(line)
})
