import { expect, test } from 'vitest'
import { parseMoment } from '../../src/support/quantities.ts'

test.each([
  ['2029-02-28', Date.UTC(2029, 1, 28)],
  ['2028-02-29T12:00:00Z', Date.UTC(2028, 1, 29, 12)],
  ['2029-02-28T23:30:00-01:00', Date.UTC(2029, 2, 1, 0, 30)],
  ['2029-12-31T23:59:59.999Z', Date.UTC(2029, 11, 31, 23, 59, 59, 999)],
])('%s is a moment', (text, time) => {
  expect(parseMoment(text)).toBe(time)
})

test.each([
  '2029-02-30',
  '2029-02-29T00:00:00Z',
  '2029-04-31',
  '2029-00-10',
  '2029-13-01',
  '2029-01-00',
  '2029-1-1',
  '1',
  '',
  'soon',
  '2029-01-011',
])('%j is none', (text) => {
  expect(parseMoment(text)).toBeNaN()
})
