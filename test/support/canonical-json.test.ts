import { expect, test } from 'vitest'
import { canonicalJson } from '../../src/support/json.ts'

test('members stand in one order, at every depth; the order of a list is its own', () => {
  expect(canonicalJson({ b: [{ d: 1, c: 2 }, 'z', 'a'], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1},"z","a"]}')
  expect(canonicalJson({ a: 1, b: 2 })).toBe(canonicalJson({ b: 2, a: 1 }))
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]))
})

test('what JSON cannot say is empty', () => {
  expect(canonicalJson(undefined)).toBe('')
})
