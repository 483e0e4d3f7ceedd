import { describe, expect, test } from 'vitest'
import { ADDRESS_FORM, DIGITS_FORM, EXTERNAL_ID_FORM, LINE_FORM, wordsFor } from '../../src/domain/text-form.ts'

const HEX = '00112233445566778899aAbBcCdDeEfF00112233'

describe.each([
  [
    'an address',
    ADDRESS_FORM,
    [`0x${HEX}`],
    ['', HEX, `0x${HEX.slice(1)}`, `0x${HEX}0`, `0X${HEX}`, `0x${HEX.slice(1)}g`, ` 0x${HEX}`, `0x${HEX}\n`],
  ],
  ['digits', DIGITS_FORM, ['0', '007', '9'.repeat(100)], ['', '-1', '+1', '1.0', '1e3', ' 1', '1\n', '0x1', '١']],
  [
    'an external_id',
    EXTERNAL_ID_FORM,
    ['a', 'Z-9_.', '.a', '..a', '...', '....', '-'],
    ['', '.', '..', 'a/b', 'a b', 'é', '.../', '../a', 'a\n'],
  ],
  ['a line', LINE_FORM, ['', 'Für die Kinder 🎓', '\xa0'], ['a\nb', '\t', '\0', '\x1f', '\x7f', '\x9f', 'a\n']],
])('the form of %s', (_what, form, good, bad) => {
  // Ajv reads patterns with the flag u, other validators without.
  test.each(['', 'u'])('takes what it should, and nothing else (flags %j)', (flags) => {
    const pattern = new RegExp(form.pattern, flags)
    expect(good.filter((text) => !pattern.test(text))).toEqual([])
    expect(bad.filter((text) => pattern.test(text))).toEqual([])
  })

  test('is known by its words', () => {
    expect(wordsFor(form.pattern)).toBe(form.words)
  })
})

test('a pattern of no form has no words', () => {
  for (const pattern of ['^x$', undefined, 7]) expect(wordsFor(pattern)).toBeUndefined()
})
