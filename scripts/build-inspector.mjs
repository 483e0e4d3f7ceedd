// Builds the inspector, the page at the sandbox's own address, into dist/inspector/: its script, a short one that asks for what the
// page shows first, one style, one HTML file; and documents.js, which renders the same components to the pages of reports, for Node.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = join(root, 'src/inspector')
const target = join(root, 'dist/inspector')

/** Most bytes of files together, gzipped: the page must be there at once, on a slow machine as well. */
const LIMITS = [
  { names: ['app.js', 'first.js'], most: 30 * 1024 },
  { names: ['style.css'], most: 8 * 1024 },
]
/** As src/http/served-file.ts packs them. */
const PACKING = { level: 9, memLevel: 7 }
/** Sheets that a page from a file has: what is in it, and no frame of views. */
const ON_PAPER = ['style/1-base.css', 'style/4-detail.css', 'style/8-reports.css', 'style/9-narrow.css']

/** How scripts for browsers are written. */
const SHORT = { format: 'esm', minify: true, comments: false }
/** Elements as plain calls, which are shorter than those of the automatic runtime. */
const PLAIN_CALLS = { runtime: 'classic', pragma: 'h', pragmaFrag: 'Fragment', pure: false }

const app = await bundled(
  'main.tsx',
  {
    platform: 'browser',
    external: /\/first\.ts$/, // the page loads it by itself
    transform: {
      define: { ON_PAPER: 'false' },
      jsx: PLAIN_CALLS,
      inject: { h: ['preact', 'h'], Fragment: ['preact', 'Fragment'] },
    },
  },
  { ...SHORT, paths: { [join(source, 'first.ts')]: './first.js' } },
)
const first = await bundled('first.ts', { platform: 'browser' }, SHORT)
const style = JSON.stringify(minified(sheets([...ON_PAPER, 'documents/document.css'])))
const documents = await bundled(
  'documents/documents.tsx',
  { platform: 'node', transform: { define: { ON_PAPER: 'true', DOCUMENT_STYLE: style } } },
  { format: 'cjs' },
)

mkdirSync(target, { recursive: true })
const files = {
  'index.html': readFileSync(join(source, 'index.html'), 'utf8'),
  'style.css': minified(
    sheets(
      readdirSync(join(source, 'style'))
        .sort()
        .map((name) => `style/${name}`),
    ),
  ),
  'app.js': app.code,
  'first.js': first.code,
  'documents.js': documents.code,
}
const sizes = new Map(
  Object.entries(files).map(([name, text]) => {
    writeFileSync(join(target, name), text)
    return [name, gzipSync(text, PACKING).length]
  }),
)
for (const { names, most } of LIMITS) {
  const size = names.reduce((sum, name) => sum + sizes.get(name), 0)
  if (size > most) throw new Error(`${names.join(' and ')} have ${size} bytes gzipped, and ${most} at most`)
}
console.log(`inspector: ${[...sizes].map(([name, size]) => `${name} ${size}`).join(', ')} bytes gzipped`)

/** Paths of all modules in what was built: the packages among them have licences to be passed on. */
export const moduleIds = [app, first, documents].flatMap((script) => script.moduleIds)

/** The one script of an entry. */
async function bundled(entry, input, output) {
  const bundle = await rolldown({
    cwd: root,
    input: join(source, entry),
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(log.message)
    },
    ...input,
  })
  const { output: scripts } = await bundle.generate(output)
  await bundle.close()
  const [script] = scripts
  if (scripts.length !== 1)
    throw new Error(`${entry} becomes ${scripts.map(({ fileName }) => fileName)}, not one script`)
  return script
}

/** Style sheets one after the other: later ones may say more of what earlier ones say. */
function sheets(names) {
  return names.map((name) => readFileSync(join(source, name), 'utf8')).join('\n')
}

/** A style sheet without comments, line breaks and needless spaces. It has no strings with any of them. */
function minified(css) {
  return css
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,>]) ?/g, '$1')
    .replace(/: /g, ':')
    .replaceAll(';}', '}')
    .trim()
}
