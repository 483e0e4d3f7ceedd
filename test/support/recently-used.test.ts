import { beforeEach, expect, test } from 'vitest'
import { RecentlyUsed } from '../../src/support/maps.ts'

let made: string[]
let kept: RecentlyUsed<string, { key: string }>
beforeEach(() => {
  made = []
  kept = new RecentlyUsed(2)
})

function use(...keys: string[]): void {
  for (const key of keys) {
    const value = kept.use(key, () => {
      made.push(key)
      return { key }
    })
    expect(value).toEqual({ key })
  }
}

test('a value is made once while few others are used', () => {
  use('a', 'b', 'a', 'b', 'b')
  expect(made).toEqual(['a', 'b'])
})

test('the one not used for the longest time goes first', () => {
  use('a', 'b', 'a', 'c')
  use('a', 'c')
  expect(made).toEqual(['a', 'b', 'c'])
  use('b')
  expect(made).toEqual(['a', 'b', 'c', 'b'])
})

test('what is forgotten is made anew', () => {
  use('a', 'b')
  kept.forget('a')
  use('b', 'a')
  expect(made).toEqual(['a', 'b', 'a'])
})
