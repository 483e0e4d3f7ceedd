// Builds the page at /docs into dist/docs/: Swagger UI as its authors publish it, and what the sandbox adds, a script and a style.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = join(root, 'src/inspector/docs')
const target = join(root, 'dist/docs')
const swagger = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))

const bundle = await rolldown({
  cwd: root,
  input: join(source, 'docs.ts'),
  platform: 'browser',
  onLog: (level, log) => {
    if (level === 'warn') throw new Error(log.message)
  },
})
const { output } = await bundle.generate({ format: 'iife', minify: true })
await bundle.close()

mkdirSync(target, { recursive: true })
writeFileSync(join(target, 'docs.js'), output[0].code)
for (const name of ['index.html', 'docs.css']) copyFileSync(join(source, name), join(target, name))
const copied = ['swagger-ui-bundle.js', 'swagger-ui.css']
// The script names the file with the licences of what it contains.
for (const name of [...copied, 'swagger-ui-bundle.js.LICENSE.txt'])
  copyFileSync(join(swagger, name), join(target, name))

/** Paths of what was copied: its package has a licence to be passed on. */
export const moduleIds = copied.map((name) => join(swagger, name))
