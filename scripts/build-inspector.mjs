// Builds the inspector, the page at the sandbox's own address, into dist/inspector/: one script, one style, one HTML file.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = join(root, 'src/inspector')
const target = join(root, 'dist/inspector')

/** Most bytes of each file, gzipped: the page must be there at once, on a slow machine as well. */
const LIMITS = { 'app.js': 30 * 1024, 'style.css': 8 * 1024 }

const bundle = await rolldown({
  input: join(source, 'main.tsx'),
  platform: 'browser',
  onLog: (level, log) => {
    if (level === 'warn') throw new Error(log.message)
  },
})
const { output } = await bundle.generate({ format: 'esm', minify: true })
await bundle.close()
const [script, ...others] = output
if (others.length > 0) throw new Error(`the inspector is one script, not ${output.length}`)

mkdirSync(target, { recursive: true })
const files = {
  'index.html': readFileSync(join(source, 'index.html'), 'utf8'),
  'style.css': minified(styles()),
  'app.js': script.code,
}
const sizes = Object.entries(files).map(([name, text]) => {
  writeFileSync(join(target, name), text)
  const size = gzipSync(text, { level: 9 }).length
  const limit = LIMITS[name]
  if (limit !== undefined && size > limit) throw new Error(`${name} has ${size} bytes gzipped, and ${limit} at most`)
  return `${name} ${size}`
})
console.log(`inspector: ${sizes.join(', ')} bytes gzipped`)

/** All style sheets, in the order of their names: later ones may say more of what earlier ones say. */
function styles() {
  const folder = join(source, 'style')
  const names = readdirSync(folder).sort()
  return names.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')
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
