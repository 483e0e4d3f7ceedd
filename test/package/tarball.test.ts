import { expect, test } from 'vitest'
import { packed } from './packed.ts'

const { size, files } = packed()

test('the tarball is small: people start it with npx', () => {
  expect(size).toBeLessThan(2_100_000)
})

test('it has the declarations that the library leads to, and no others', () => {
  const types = files.filter(({ path }) => path.endsWith('.d.ts'))
  expect(types.map(({ path }) => path)).toContain('dist/index.d.ts')
  expect(types.length).toBeLessThan(120)
  expect(types.filter(({ path }) => /^dist\/(cli|http|store|exec)\//.test(path))).toEqual([])
})
