import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../cli/command.ts'
import { isTest } from '../helpers/named-test.ts'

const text = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')
const tests = [...text.matchAll(/^- \*\*(T\d+)\*\* `([^`]+)`: "(.+)"$/gm)].map(([, id = '', path = '', name = '']) => ({
  id,
  path,
  name,
}))
/** Rows of the tables of who may do what: what it is about, on loopback, elsewhere. */
const rows = [...text.matchAll(/^\| (control|chain|service) +\| (.+) \| (.+) \|$/gm)].map(([, ...cells]) => cells)
const cells = rows.flatMap(([, ...both]) => both)
const named = (cell = '') => /\((T\d+(?:, T\d+)*)\)$/.exec(cell)?.[1]?.split(', ') ?? []

describe('SECURITY.md', () => {
  test('has a cell for each of four callers, three faces and two ways to run, with the tests that show it', () => {
    expect(rows.map(([about]) => about)).toEqual(
      Array.from({ length: 4 }, () => ['control', 'chain', 'service']).flat(),
    )
    expect(cells.filter((cell) => named(cell).length === 0)).toEqual([])
  })

  test('names no test that it does not list, and lists none that it does not name', () => {
    const ids = tests.map(({ id }) => id)
    expect(ids).toEqual(ids.map((_, index) => `T${index + 1}`))
    expect([...new Set(cells.flatMap(named))].sort()).toEqual([...ids].sort())
  })

  test.each(tests)('$id is a test there is: $path: $name', (named) => {
    expect(isTest(named)).toBe(true)
  })

  test('counts the packages that the lock file has no hash of, by the kinds it names', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { integrity?: string; optional?: boolean }>
    }
    const without = Object.entries(packages).filter(([path, { integrity }]) => path !== '' && integrity === undefined)
    expect(without.filter(([, { optional }]) => !optional)).toEqual([])
    expect(text).toContain(`every package but ${without.length},`)
    const table = [...text.matchAll(/^\| `(\S+)\*` +\| (\d+) /gm)].map(([, start = '', count]) => [
      start,
      Number(count),
    ])
    const counted = table.map(([start]) => [
      start,
      without.filter(([path]) => path.startsWith(`node_modules/${start}`)).length,
    ])
    expect(table).toEqual(counted)
    expect(counted.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(without.length)
  })

  test('ships in the package', () => {
    const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] }
    expect(files).toContain('SECURITY.md')
  })
})
