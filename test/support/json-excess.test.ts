import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonExcess } from '../../src/support/json.ts'
import { processorTime } from '../helpers/processor-time.ts'

const nested = (levels: number, inside = '') => '['.repeat(levels) + inside + ']'.repeat(levels)

test('64 levels are let through, of lists, objects and both', () => {
  expect(jsonExcess(nested(64))).toBeUndefined()
  expect(jsonExcess(nested(65))).toBe('nests deeper than 64 levels')
  for (const [levels, found] of [
    [64, undefined],
    [65, 'nests deeper than 64 levels'],
  ] as const) {
    expect(jsonExcess(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)).toBe(found)
  }
  expect(jsonExcess(`${'[{"a":'.repeat(32)}1${'}]'.repeat(32)}`)).toBeUndefined()
  expect(jsonExcess(`[${`${nested(60)},`.repeat(50)}1]`)).toBeUndefined()
})

test('so many values are let through, however they are laid out', () => {
  const list = (values: number) => JSON.stringify(Array(values - 1).fill(1))
  expect(jsonExcess(list(10_000))).toBeUndefined()
  expect(jsonExcess(list(10_001))).toBe('holds more than 10000 values')
  expect(jsonExcess('{"a":"x","b":[1,2]}', 5)).toBeUndefined()
  expect(jsonExcess('{"a":"x","b":[1,2]}', 4)).toBe('holds more than 4 values')
})

test('what stands in strings does not count', () => {
  const text = fc.string({ unit: fc.constantFrom('"', '\\', '[', '{', ',', ']', 'a') })
  fc.assert(
    fc.property(fc.array(text, { maxLength: 20 }), (strings) => {
      const json = JSON.stringify(strings)
      expect(jsonExcess(json, Math.max(2, strings.length + 1))).toBeUndefined()
      if (strings.length > 1) expect(jsonExcess(json, strings.length)).toBeDefined()
    }),
  )
})

test('any JSON is counted as reading it counts', () => {
  const countOf = (value: unknown): number =>
    1 + (Object(value) === value ? Object.values(value as object).reduce((sum, one) => sum + countOf(one), 0) : 0)
  const isEmpty = (value: unknown): boolean =>
    Object(value) === value &&
    (Object.values(value as object).length === 0 || Object.values(value as object).some(isEmpty))
  fc.assert(
    fc.property(fc.tuple(fc.jsonValue({ maxDepth: 5 })), (value) => {
      // An empty list counts as if it held something.
      fc.pre(!isEmpty(value))
      for (const text of [JSON.stringify(value), JSON.stringify(value, undefined, 2)]) {
        expect(jsonExcess(text, countOf(value))).toBeUndefined()
        expect(jsonExcess(text, countOf(value) - 1)).toBeDefined()
      }
    }),
  )
})

test.each([
  ['quotation marks', `["${'\\"'.repeat(200_000)}"]`],
  ['backslashes', `["${'\\\\'.repeat(200_000)}"]`],
  ['a string that never ends', `["${'\\"'.repeat(200_000)}`],
  ['white space', ' '.repeat(400_000)],
])('400 KB of %s take no time to speak of', (_what, text) => {
  expect(processorTime(() => expect(jsonExcess(text)).toBeUndefined())).toBeLessThan(5_000)
})
