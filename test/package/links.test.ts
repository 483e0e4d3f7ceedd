import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../cli/command.ts'
import { packed } from './packed.ts'

/** Paths of all files in the package. */
const files = new Set(packed().files.map(({ path }) => path))

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
  const pages = [...files].filter((file) => file.endsWith('.md') && !/^(dist|contracts)\//.test(file))
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
        if (!files.has(target)) return true
        return anchor !== undefined && !headings(readFileSync(join(ROOT, target), 'utf8')).includes(anchor)
      })
      .map((link) => `${page}: ${link}`)
  })
  expect(broken).toEqual([])
})

test('pages that messages name are in the package', () => {
  const scripts = [...files].filter((file) => /^dist\/[^/]+\.js$/.test(file))
  const bundle = scripts.map((file) => readFileSync(join(ROOT, file), 'utf8')).join()
  const named = [...new Set(bundle.match(/\bdocs\/[\w-]+\.md/g))]
  expect(named).toEqual(expect.arrayContaining(['docs/fixtures.md', 'docs/scenarios.md']))
  expect(named.filter((page) => !files.has(page))).toEqual([])
})
