import { expect, test } from 'vitest'
import { visibleJson, visibleText } from '../../src/support/foreign-text.ts'

const HOSTILE = '\u001b[2J\u0007\u0000\r\u009b31m\u007f\u202e\u200b\ud800\u{e0041}\u2028'

test('what a terminal would obey or hide is shown', () => {
  const shown = '\\u001b[2J\\u0007\\u0000\\u000d\\u009b31m\\u007f\\u202e\\u200b\\ud800\\udb40\\udc41\\u2028'
  expect(visibleText(HOSTILE)).toBe(shown)
})

test('ordinary text stays, line ends and tabs included', () => {
  const text = 'alice <script> é 漢字 🦊 "\\n"\n\t{}'
  expect(visibleText(text)).toBe(text)
})

test('JSON stays the same JSON', () => {
  const value = { [HOSTILE]: [HOSTILE, 'é'] }
  const text = visibleJson(value)
  expect(text).toMatch(/^[\P{C}]+$/u)
  expect(JSON.parse(text)).toEqual(value)
})
