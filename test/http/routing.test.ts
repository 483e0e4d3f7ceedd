import { expect, test } from 'vitest'
import { parseQuery } from '../../src/http/routing.ts'
import { processorTime } from '../helpers/processor-time.ts'

test('a repeated parameter is a list, a whole limit a number', () => {
  expect({ ...parseQuery('limit=10&a=1&b=x&a=2&a=&c') }).toEqual({ limit: 10, a: ['1', '2', ''], b: 'x', c: '' })
  expect({ ...parseQuery('limit=1&limit=2') }).toEqual({ limit: [1, '2'] })
  expect({ ...parseQuery('limit=1e1') }).toEqual({ limit: '1e1' })
})

test('a name repeated 100,000 times takes no time to speak of', () => {
  const parse = () => expect(parseQuery('a&'.repeat(100_000)).a).toHaveLength(100_000)
  expect(processorTime(parse)).toBeLessThan(5_000)
})
