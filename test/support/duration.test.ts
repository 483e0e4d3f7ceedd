import { expect, test } from 'vitest'
import { durationInWords, parseDuration, parseDurationRange } from '../../src/support/quantities.ts'

test.each([
  ['0', 0],
  ['250ms', 250],
  ['1.5h', 5_400_000],
  [' 8d ', 691_200_000],
  ['10 m', 600_000],
])('%j is a duration', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds)
})

test.each(['', '-1s', '1.s', '.5s', 'x', '1x', '2s 3s', `${'9'.repeat(400)}d`])('%j is none', (text) => {
  expect(() => parseDuration(text)).toThrow(/is not a duration; write 0, 250ms/)
})

test.each(['30', ' 8 ', '1.5'])('%j has no unit', (text) => {
  const bare = text.trim()
  expect(() => parseDuration(text)).toThrow(`"${bare}" has no unit; write ${bare}s, or ${bare}ms`)
  expect(() => parseDurationRange(`2s-${text}`)).toThrow('has no unit')
})

test.each(['0', '00', '0.0', ' 0 '])('%j needs none', (text) => {
  expect(parseDuration(text)).toBe(0)
})

test('a range has two ends, or one for both', () => {
  expect(parseDurationRange('2s')).toEqual({ min: 2_000, max: 2_000 })
  expect(parseDurationRange('5s-30s')).toEqual({ min: 5_000, max: 30_000 })
  expect(parseDurationRange('5s-5s')).toEqual({ min: 5_000, max: 5_000 })
  expect(parseDurationRange(' realistic ')).toEqual({ min: 5_000, max: 30_000 })
  expect(() => parseDurationRange('30s-5s')).toThrow('"30s-5s" ends before it begins')
})

test.each([
  [0, '0 ms'],
  [41.4, '41 ms'],
  [999.4, '999 ms'],
  [999.6, '1.0 s'],
  [5_000, '5.0 s'],
  [99_949, '99.9 s'],
  [99_960, '1 min 40 s'],
  [119_600, '2 min 0 s'],
  [3_600_000, '60 min 0 s'],
])('%d milliseconds are %s', (milliseconds, words) => {
  expect(durationInWords(milliseconds)).toBe(words)
})
