import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Plugin, transformWithOxc } from 'vite'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SOURCE = join(ROOT, 'src/')
/** Matches what {@link nativeSource} builds: Vitest must not evaluate it. */
export const BUILT_SOURCE = /\/\.test-build\//
const BUILT = join(ROOT, '.test-build/')

/**
 * Lets tests import `src/` as Node does: each file is built to JavaScript before the tests begin. Vitest would evaluate each file as the body of a
 * function, in which each imported name is a getter of an object: docs/testing.md says what that costs.
 * Stack traces show `src/`, by source maps. `vi.mock` does not reach these modules: replace a method of a class or an object instead.
 */
export async function nativeSource(): Promise<Plugin> {
  const names = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  await Promise.all(names.filter((name) => name.endsWith('.ts')).map(build))
  return {
    name: 'native-source',
    enforce: 'pre',
    resolveId(source, importer) {
      if (!source.startsWith('.') || !importer) return null
      const path = resolve(dirname(importer), source)
      if (!path.startsWith(SOURCE) || !path.endsWith('.ts')) return null
      return { id: builtOf(path.slice(SOURCE.length)), external: true }
    },
  }
}

const builtOf = (name: string) => `${BUILT}${name.slice(0, -'.ts'.length)}.js`

async function build(name: string): Promise<void> {
  const path = join(SOURCE, name)
  const { code, map } = await transformWithOxc(readFileSync(path, 'utf8'), path, {
    sourcemap: true,
    typescript: { rewriteImportExtensions: 'rewrite', onlyRemoveTypeImports: true },
  })
  // Files that a module finds from its own place are beside the sources.
  const placed = code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
  const mapped = Buffer.from(JSON.stringify(map)).toString('base64')
  replace(builtOf(name), `${placed}\n//# sourceMappingURL=data:application/json;base64,${mapped}\n`)
}

/** Another run may read the file at this moment. */
function replace(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.${process.pid}`, text)
  renameSync(`${path}.${process.pid}`, path)
}
