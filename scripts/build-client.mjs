// Builds `yield-sandbox/client` into dist/: the handle of a sandbox that runs elsewhere, for bundles and for whatever has `fetch` and no
// modules of Node's. ES modules for bundlers, which leave out what of viem is not used; CommonJS for what cannot load those, as Jest.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const time = join(root, 'src/client-time.ts')

const bundle = await rolldown({
  cwd: root,
  input: 'src/client.ts',
  platform: 'browser',
  external: ['viem'],
  // Fake timers of a test must not stop it: as in scripts/bundle.mjs.
  transform: { inject: Object.fromEntries(['Date', 'setTimeout', 'clearTimeout'].map((name) => [name, [time, name]])) },
  onLog: (level, log) => {
    if (level === 'warn') throw new Error(log.message)
  },
})
const plain = { charset: 'ascii', comments: { legal: true, annotation: false, jsdoc: false }, codeSplitting: false }
const forms = [
  await bundle.generate({ format: 'esm', ...plain, entryFileNames: 'client.mjs' }),
  await bundle.generate({ format: 'cjs', ...plain, entryFileNames: 'client.js' }),
]
await bundle.close()

/** Both forms of the client, as rolldown describes what it makes. */
export const client = forms.map(({ output: [chunk] }) => chunk)
for (const { fileName, code, imports } of client) {
  const foreign = imports.filter((name) => name !== 'viem')
  if (foreign.length > 0) throw new Error(`${fileName} imports ${foreign}: it is to import nothing but viem`)
  writeFileSync(join(dist, fileName), code)
}
