import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../cli/command.ts'
import { packed } from './packed.ts'

const { size, files } = packed()
const paths = new Set(files.map(({ path }) => path))

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

/** Ids of a page's headings, as Markdown viewers make them. */
function headings(text: string): string[] {
  const titles = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title)
  return titles.map((title) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
}

test('links of the pages in the package lead to files in the package', () => {
  // Licences of others are quoted as they are.
  const pages = [...paths].filter((file) => file.endsWith('.md') && !/^(dist|contracts)\//.test(file))
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/faults.md', 'docs/fixtures.md']))
  const broken = pages.flatMap((page) => {
    const text = readFileSync(join(ROOT, page), 'utf8')
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
    return links
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [path = '', anchor] = link.split('#')
        const target = path === '' ? page : normalize(join(dirname(page), path))
        // Pictures are shown where the repository is: whoever starts it with npx does not need them.
        if (target.startsWith('docs/pictures/')) return !existsSync(join(ROOT, target))
        if (!paths.has(target)) return true
        return anchor !== undefined && !headings(readFileSync(join(ROOT, target), 'utf8')).includes(anchor)
      })
      .map((link) => `${page}: ${link}`)
  })
  expect(broken).toEqual([])
})

test('pages that messages name are in the package', () => {
  const scripts = [...paths].filter((file) => /^dist\/[^/]+\.js$/.test(file))
  const bundle = scripts.map((file) => readFileSync(join(ROOT, file), 'utf8')).join()
  const named = [...new Set(bundle.match(/\bdocs\/[\w-]+\.md/g))]
  expect(named).toEqual(expect.arrayContaining(['docs/fixtures.md', 'docs/scenarios.md']))
  expect(named.filter((page) => !paths.has(page))).toEqual([])
})
