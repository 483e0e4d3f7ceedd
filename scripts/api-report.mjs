// The public surface in git: for every entry of package.json's `exports` a page in api/ with all that it exports and the types behind
// that, in their declared form, without comments. `npm run build:api` writes the pages after a build; `--check` fails if one differs.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import ts from 'typescript'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'api')
const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const pages = new Map()
let first
for (const [entry, target] of Object.entries(exports)) {
  const surface = await surfaceOf(typesOf(target))
  first ??= surface
  pages.set(`${entry === '.' ? name : entry.slice(2).replaceAll('/', '-')}.md`, pageOf(entry, surface))
}
if (process.argv.includes('--check')) check()
else write()

/** The declarations that an entry's target names for CommonJS; those for ES modules lead to the same. */
function typesOf(target) {
  const path = target.default?.types ?? target.types
  if (path === undefined) throw new Error(`an entry of exports names no types: ${JSON.stringify(target)}`)
  return path
}

/** Text of every declaration that an entry exports or that stands behind one, by its name; exported ones begin with `export`. */
async function surfaceOf(types) {
  const bundle = await rolldown({
    cwd: root,
    input: types,
    external: /^[^./]/,
    checks: { bundlerTimings: false },
    plugins: [dts({ dtsInput: true, emitDtsOnly: true, tsconfig: false, sourcemap: false })],
  })
  const { output } = await bundle.generate({ format: 'es' })
  await bundle.close()
  return declarationsIn(output[0].code)
}

function declarationsIn(code) {
  const file = ts.createSourceFile('api.d.ts', code, ts.ScriptTarget.Latest, true)
  const printer = ts.createPrinter({ removeComments: true })
  // Names of packages' types without what the bundler calls the package.
  const printed = (node) => printer.printNode(ts.EmitHint.Unspecified, node, file).replace(/_\$_\w+\./g, '')
  const exported = new Set()
  const texts = new Map()
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement)) continue
    if (ts.isExportDeclaration(statement)) {
      for (const { name, propertyName } of statement.exportClause?.elements ?? []) {
        exported.add((propertyName ?? name).text)
      }
      continue
    }
    const named = ts.isVariableStatement(statement) ? statement.declarationList.declarations[0] : statement
    const text = printed(inOrder(statement, printed))
    // An overload, or an interface in parts, has several declarations of a name.
    texts.set(named.name.text, [texts.get(named.name.text), text].filter(Boolean).join('\n'))
  }
  const sorted = [...texts].sort(([a], [b]) => (a < b ? -1 : 1))
  return new Map(sorted.map(([key, text]) => [key, { text, isExported: exported.has(key) }]))
}

/** A declaration with members and unions in the order of the alphabet: the compiler's own changes with what it happens to read first. */
function inOrder(statement, printed) {
  const sorted = (nodes) =>
    nodes
      .map((node) => [printed(node), node])
      .sort(byText)
      .map(([, node]) => node)
  const byText = ([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)
  const visit = (context) => (node) => {
    const inside = ts.visitEachChild(node, visit(context), context)
    if (ts.isUnionTypeNode(inside)) return context.factory.createUnionTypeNode(sorted(inside.types))
    if (ts.isTypeLiteralNode(inside)) return context.factory.createTypeLiteralNode(sorted(inside.members))
    return inside
  }
  const { transformed } = ts.transform(statement, [(context) => visit(context)])
  return transformed[0]
}

/** A page: the names, then the declarations, but of later entries only those that the first one has not. */
function pageOf(entry, surface) {
  const module = entry === '.' ? name : `${name}${entry.slice(1)}`
  const names = [...surface].filter(([, { isExported }]) => isExported).map(([key]) => `- \`${key}\``)
  const own = [...surface].filter(([key, { text }]) => surface === first || first.get(key)?.text !== text)
  const blocks = own.map(([, { text, isExported }]) => (isExported ? `export ${text}` : text))
  const rest = surface === first ? 'All declarations' : `Declarations that [\`${name}\`](${name}.md) has not`
  return `# ${module}

Made by \`npm run build:api\` from what is published. A change here is one that users of the package may notice.

Exports:

${names.join('\n')}

## ${rest}

\`\`\`ts
${blocks.join('\n\n')}
\`\`\`
`
}

function write() {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const [file, text] of pages) writeFileSync(join(folder, file), text)
  console.log(`api: ${[...pages.keys()].join(', ')}`)
}

/** Compares the pages in git with what is built. */
function check() {
  const kept = existsSync(folder) ? readdirSync(folder) : []
  const stale = kept.filter((file) => !pages.has(file))
  const differing = [...pages].filter(
    ([file, text]) => !kept.includes(file) || readFileSync(join(folder, file), 'utf8') !== text,
  )
  for (const file of [...stale, ...differing.map(([one]) => one)]) {
    console.error(
      `api/${file} is not what the build exports: run npm run build:api, look at the difference, and commit it`,
    )
    process.exitCode = 1
  }
}
