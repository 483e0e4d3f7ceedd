import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../cli/command.ts'
import { packed } from './packed.ts'

const { size, files } = packed()

test('the tarball is small: people start it with npx', () => {
  expect(size).toBeLessThan(2_300_000)
})

test('the README says its size', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const [, said] = /^\| package +\| ([\d.]+) MB,/m.exec(readme) ?? []
  expect(said).toBe((size / 1e6).toFixed(1))
})

test('it has the declarations that the library leads to, and no others', () => {
  const types = files.filter(({ path }) => path.endsWith('.d.ts'))
  expect(types.map(({ path }) => path)).toContain('dist/index.d.ts')
  expect(types.length).toBeLessThan(120)
  expect(types.filter(({ path }) => /^dist\/(cli|http|store|exec)\//.test(path))).toEqual([])
})
