// Writes the TypeScript of the pages to .generated/docs, where `npm run check:types` compiles it with everything else.
//
// A block whose first line is a comment with a path is that file: one of this project beside the files of the same folder (`rootDirs`
// of tsconfig.json), else one of a project that its page is about. A block without imports may use the names below, as the text around it does.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const TARGET = join(ROOT, '.generated/docs')

/** Names that a short block uses without importing them, and how they come about. */
const KNOWN = {
  sandbox: "declare const sandbox: import('yield-sandbox').SandboxHandle",
  acme: `declare const acme: import('${join(ROOT, 'test/helpers/partner.ts')}').Partner`,
  expect: "import { expect } from 'vitest'",
  test: "import { test } from 'vitest'",
  writeFile: "import { writeFile } from 'node:fs/promises'",
}

/** Every Markdown page of the project. */
export function pages() {
  const docs = readdirSync(join(ROOT, 'docs')).filter((file) => file.endsWith('.md'))
  const skill = ['SKILL.md', 'references/explore.md', 'references/situations.md'].map(
    (file) => `skills/yield-sandbox/${file}`,
  )
  return [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'examples/README.md',
    ...skill,
    ...docs.map((file) => `docs/${file}`),
  ]
}

/** Blocks of a page in one of these languages, in order. */
export function blocksOf(page, languages) {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(/^( *)```([a-z]+)[^\n]*\n(.*?)^ *```$/gms)]
    .filter(([, , language]) => languages.includes(language))
    .map(([, indent, , code]) => code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''))
}

function write(file, content) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}

/** A block may show a value without using it, which the compiler would refuse. */
function withUses(code) {
  const names = [...code.matchAll(/^(?:const|await using) (\w+) =/gm)].map(([, name]) => name)
  return names.length === 0 ? code : `${code}void [${names}]\n`
}

function withKnown(code) {
  if (/^(import|export) /m.test(code)) return code
  const used = Object.keys(KNOWN).filter((name) => new RegExp(`(?<![.\\w'])${name}\\b`).test(code))
  return [...used.map((name) => KNOWN[name]), code, 'export {}\n'].join('\n')
}

/** Writes all blocks of TypeScript; returns how many there are. */
function extractBlocks() {
  rmSync(TARGET, { recursive: true, force: true })
  let count = 0
  for (const page of pages()) {
    const folder = basename(page, '.md').toLowerCase()
    for (const [i, code] of blocksOf(page, ['ts']).entries()) {
      const [, path = `block-${i + 1}.ts`] = /^\/\/ ([\w./-]+\.ts)\b/.exec(code) ?? []
      const isOurs = path.startsWith('src/') || /from '[./]+\/src\//.test(code)
      write(join(TARGET, isOurs ? path : join(folder, path)), withUses(withKnown(code)))
      count += 1
    }
  }
  return count
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(`${extractBlocks()} blocks of TypeScript`)
