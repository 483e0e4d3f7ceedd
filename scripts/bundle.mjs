// Bundles src/ and most of what it depends on into dist/: loading a thousand small files is most of a start.
// See docs/decisions/0006-one-file-to-start.md.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { client } from './build-client.mjs'
import { moduleIds as ofDocs } from './build-docs.mjs'
import { moduleIds as ofInspector } from './build-inspector.mjs'
import { sbom } from './sbom.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')

/** What reads time or sets a timer: named anywhere in the bundle, it is that of real-time.ts. */
const TIME = [
  'Date',
  'performance',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'queueMicrotask',
  'process.nextTick',
  'process.hrtime',
]
const realTime = join(root, 'src/real-time.ts')

/** What a file of the bundle is called that holds a module of src/ and what shares its fate. Others are called after one in them. */
const NAMES = new Map([
  ['sandbox/sandbox.ts', 'sandbox'],
  ['sandbox/application.ts', 'application'],
  ['options.ts', 'options'],
  ['support/foreign-text.ts', 'shared'],
  ['cli/log.ts', 'command-line'],
  ['cli/other-commands.ts', 'other-commands'],
  ['control/client.ts', 'control-client'],
  ['faults/phase.ts', 'scenarios'],
  ['support/quantities.ts', 'faults'],
  ['oracle/operation.ts', 'oracle'],
  ['verdict/finding.ts', 'findings'],
  ['verdict/verdict-of.ts', 'verdict'],
  ['verdict/render/render-reports.ts', 'report-forms'],
  ['exec/command-end.ts', 'run-command'],
  ['explore/exploration.ts', 'exploration'],
  ['explore/render/render-exploration.ts', 'exploration-forms'],
  ['certify/certificate.ts', 'certify'],
  ['library/handle.ts', 'library'],
])

/** What test runners load: see docs/runners.md. Test sandboxes are in a file of their own, which those in ES modules share. */
const RUNNERS = ['jest', 'jest-setup', 'jest-teardown', 'node-test', 'playwright', 'shared-sandbox', 'test-sandbox']
/** Vitest cannot be required, so what imports it, and what it imports as a setup, are ES modules. */
const RUNNERS_AS_MODULES = ['vitest', 'vitest-setup']
/**
 * A single other character would make Node keep a file of a megabyte in two bytes a character. Comments are a fifth of the text; those
 * of licences stay.
 */
const PLAIN = { charset: 'ascii', comments: { legal: true, annotation: false, jsdoc: false } }

/** Small modules that commands share with the sandbox: in a file of their own, so that a command that joins one does not load all of it. */
const SMALL = /src\/(verdict\/deed-in-words|support\/serial-queue|faults\/counters)\.ts$/

const bundle = await rolldown({
  cwd: root,
  input: {
    cli: 'src/cli/main.ts',
    index: 'src/index.ts',
    ...Object.fromEntries(RUNNERS.map((name) => [name, `src/runners/${name}.ts`])),
  },
  platform: 'node',
  resolve: {
    mainFields: ['module', 'main'], // of modules, what is not used can be left out
    // Fastify's own compilers of schemas (Ajv): http/validate.ts stands in for them. HTTP/2 is not spoken.
    alias: { '@fastify/ajv-compiler': false, '@fastify/fast-json-stringify-compiler': false, 'node:http2': false },
  },
  external: ['viem'], // loaded when needed only, from node_modules: the library's chain client
  // Fake timers of a test in the same process must stop neither the sandbox nor a package in it.
  transform: { inject: Object.fromEntries(TIME.map((name) => [name, [realTime, name.split('.').at(-1)]])) },
  onLog: (level, log) => {
    if (level === 'warn') throw new Error(log.message)
  },
})
// Files directly in dist/: what looks for the package's files goes one folder up.
const { output } = await bundle.write({
  dir: dist,
  format: 'cjs',
  exports: 'named',
  entryFileNames: '[name].js',
  chunkFileNames: ({ moduleIds }) => `${nameOf(moduleIds) ?? '[name]'}.js`,
  codeSplitting: { groups: [{ name: 'small', test: SMALL }] },
  ...PLAIN,
})
await bundle.close()
// The library alone may import(): what src/code-cache.ts loads cannot.
for (const { fileName, code } of output.filter(({ fileName }) => fileName !== 'library.js')) {
  const isImport = (line) => /\bimport\(["']/.test(line) && !/^\s*(\/\*|\*|\/\/)/.test(line)
  if (code.split('\n').some(isImport)) throw new Error(`${fileName} has an import() of a package`)
}
const shared = new Map(
  ['shared-sandbox', 'test-sandbox'].map((name) => [join(root, `src/runners/${name}.ts`), `./${name}.js`]),
)
const modules = await rolldown({
  cwd: root,
  input: Object.fromEntries(RUNNERS_AS_MODULES.map((name) => [name, `src/runners/${name}.mts`])),
  platform: 'node',
  external: (id) => id === 'vitest' || shared.has(id),
})
const paths = (id) => shared.get(id) ?? id
output.push(
  ...(await modules.write({ dir: dist, format: 'esm', entryFileNames: '[name].mjs', paths, ...PLAIN })).output,
)
await modules.close()
// It loads the others, so it shares nothing with them.
const loader = await rolldown({
  cwd: root,
  input: { 'code-cache': 'src/code-cache.ts', 'first-words': 'src/cli/first-words.ts' },
  platform: 'node',
})
output.push(...(await loader.write({ dir: dist, format: 'cjs', entryFileNames: '[name].js', ...PLAIN })).output)
await loader.close()
// One copy of the code, which `import` and `require` both load; the types beside it are read in the same way.
writeFileSync(join(dist, 'package.json'), '{ "type": "commonjs" }\n')

// Code that V8 compiled is kept under this name: see src/code-cache.ts.
const hash = createHash('sha256')
for (const { code } of output) hash.update(code)
writeFileSync(join(dist, 'build-id'), `${hash.digest('hex').slice(0, 16)}\n`)

// What is there for people who import: the rest is built for the command or is of an earlier build.
output.push(...client)
const written = new Set(output.map(({ fileName }) => fileName))
for (const name of readdirSync(dist)) {
  const isEarlier = name.endsWith('.cache') || (/\.m?js$/.test(name) && !written.has(name))
  if (isEarlier) rmSync(join(dist, name))
}
// Node reads the types of an ES module as one, so it has a file of its own for them.
writeFileSync(join(dist, 'client.d.mts'), "export * from './client.js'\n")
const types = reachable(published().filter((path) => /\.d\.m?ts$/.test(path)))
for (const name of readdirSync(dist, { recursive: true })) {
  if (/\.d\.m?ts$/.test(name) && !types.has(name)) rmSync(join(dist, name))
}
for (const { name, parentPath } of readdirSync(dist, { recursive: true, withFileTypes: true }).reverse()) {
  const folder = join(parentPath, name)
  if (statSync(folder).isDirectory() && readdirSync(folder).length === 0) rmdirSync(folder)
}

const packages = bundledPackages([...output.flatMap(({ moduleIds }) => moduleIds ?? []), ...ofInspector, ...ofDocs])
writeFileSync(join(dist, 'THIRD-PARTY-NOTICES.md'), notices(packages))
writeFileSync(join(dist, 'sbom.cdx.json'), `${JSON.stringify(sbom(root, packages), null, 1)}\n`)
console.log(`bundle: ${[...written].join(', ')}; ${packages.length} packages in it`)

/** The name of a file with these modules, if it has one. */
function nameOf(moduleIds) {
  const modules = new Set(moduleIds.map((id) => relative(join(root, 'src'), id)))
  return [...NAMES].find(([module]) => modules.has(module))?.[1]
}

/** Files in dist/ that package.json's `exports` name. */
function published() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const filesOf = (target) => (typeof target === 'string' ? [target] : Object.values(target).flatMap(filesOf))
  return filesOf(exports).map((path) => relative('dist', path))
}

/** Declarations that these lead to, themselves included, as paths in dist/: nobody can name a type in another. */
function reachable(first) {
  const found = new Set()
  const open = [...first]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue
    found.add(name)
    const text = readFileSync(join(dist, name), 'utf8')
    for (const [, path] of text.matchAll(/(?:\bfrom |\bimport\(|\bimport )['"](\.[^'"]+)\.ts['"]/g)) {
      open.push(join(dirname(name), `${path}.d.ts`))
    }
  }
  return found
}

/** The folders of the packages that modules come from, each once, by name. */
function bundledPackages(modules) {
  const files = modules.filter((id) => !id.startsWith('\0')) // what is empty or the bundler's own
  const folders = files.map((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0])
  return [...new Set(folders.filter((folder) => folder !== undefined))]
    .map((folder) => ({ folder, ...JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) }))
    .sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1))
}

/** What the packages' licences ask to be passed on with copies of them. */
function notices(packages) {
  const sections = packages.map(({ name, version, license, author, folder }) => {
    const texts = readdirSync(folder)
      .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
      .map((file) => readFileSync(join(folder, file), 'utf8').trim())
    const holder = typeof author === 'object' ? author.name : author
    const said = texts.length > 0 ? texts : [`Copyright ${holder}; it ships no text of its licence.`]
    return [`## ${name} ${version}`, `Licence: ${license}`, ...said.map(quoted)].join('\n\n')
  })
  return `# Third-party notices\n\nThe files in this folder contain code of these packages.\n\n${sections.join('\n\n')}\n`
}

/** A text as it is, indented: licences hold backticks and headings. */
function quoted(text) {
  return text.replace(/^(?=.)/gm, '    ')
}
