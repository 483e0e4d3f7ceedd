import { expect, test } from 'vitest'
import { parseSize } from '../../src/support/quantities.ts'

test.each([
  ['0', 0],
  ['65536', 65_536],
  ['512KiB', 524_288],
  ['64 MiB', 67_108_864],
  ['1.5gb', 1_500_000_000],
])('%s is so many bytes', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes)
})

test.each(['', '-1', '64Q', 'much', '1e9', '9'.repeat(40)])('"%s" is none', (text) => {
  expect(() => parseSize(text)).toThrow(/is not a size; write 0, 65536, 512KiB, 64MiB or 1GB/)
})
