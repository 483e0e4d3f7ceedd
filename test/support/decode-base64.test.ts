import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeBase64 } from '../../src/support/encodings.ts'

test.each(['base64', 'base64url'] as const)(
  '%s: bytes come back, and only from the one text that encodes them',
  (encoding) => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.nat(), fc.constantFrom(...'AZaz09-_+/= \t\r\n.é\0'), (array, at, character) => {
        const bytes = Buffer.from(array)
        const text = bytes.toString(encoding)
        expect(decodeBase64(text, encoding)).toEqual(bytes)
        const place = at % (text.length + 1)
        const other = text.slice(0, place) + character + text.slice(place)
        expect(decodeBase64(other, encoding)?.equals(bytes)).not.toBe(true)
      }),
    )
  },
)

test.each([
  ['a space', 'YWxpY2U g'],
  ['a tab', 'YWxp\tY2Ug'],
  ['a line feed', 'YWxpY2Ug\n'],
  ['padding that is not needed', 'YWxpY2Ug='],
  ['padding', 'YWxpY2U='],
  ['unused bits', 'YWxpY2V'],
  ['a single character left', 'YWxpY'],
  ['the other alphabet', '+/+/'],
  ['a character of neither', 'YWxp!Y2Ug'],
])('base64url with %s is none', (_, text) => {
  expect(decodeBase64(text, 'base64url')).toBeUndefined()
})
