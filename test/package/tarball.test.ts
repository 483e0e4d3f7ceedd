import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { ROOT } from '../cli/command.ts'

interface Packed {
  /** Bytes of the tarball. */
  size: number
  files: { path: string; size: number }[]
}

function packed(): Packed {
  const list = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT, encoding: 'utf8' })
  return (JSON.parse(list) as [Packed])[0]
}

test('the tarball is small: people start it with npx', () => {
  expect(packed().size).toBeLessThan(1_700_000)
})

test('it has the declarations that the library leads to, and no others', () => {
  const types = packed().files.filter(({ path }) => path.endsWith('.d.ts'))
  expect(types.map(({ path }) => path)).toContain('dist/index.d.ts')
  expect(types.length).toBeLessThan(120)
  expect(types.filter(({ path }) => /^dist\/(cli|http|store|exec)\//.test(path))).toEqual([])
})
