// Packs the project and looks at the tarball as those do who import from it: publint at what package.json promises, "Are the types
// wrong?" at how TypeScript finds the types of every entry, by each of its ways. Any remark of either fails it.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

/** Vitest is there for ES modules alone, and so is what extends it: CommonJS could not use either. */
const NEEDS_VITEST = /^\.\/vitest(\/|$)/

const root = new URL('..', import.meta.url).pathname
const tarball = packed()
const found = [...(await remarksOfPublint()), ...(await problemsOfTypes())]
for (const one of found) console.error(one)
process.exitCode = found.length > 0 ? 1 : 0

/** The bytes of the tarball that `npm publish` would send. */
function packed() {
  const folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-package-'))
  try {
    const npm = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
    const [{ filename }] = JSON.parse(execFileSync('npm', npm, { cwd: root, encoding: 'utf8' }))
    return new Uint8Array(readFileSync(join(folder, filename)))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function remarksOfPublint() {
  const { messages, pkg } = await publint({ pack: { tarball: tarball.buffer }, strict: true })
  console.log(`publint: ${messages.length} remarks`)
  return messages.map((message) => `publint, ${message.type}: ${formatMessage(message, pkg, { color: false })}`)
}

/** Prints how each entry's types are found, and returns what is wrong with it. */
async function problemsOfTypes() {
  const { entrypoints, problems } = await checkPackage(createPackageFromTarballData(tarball))
  for (const [entry, { resolutions }] of Object.entries(entrypoints)) {
    const ways = Object.entries(resolutions).map(
      ([way, { resolution }]) => `${way} ${resolution?.fileName ?? 'nothing'}`,
    )
    console.log(`types of ${entry}: ${ways.join(', ')}`)
  }
  const wrong = problems.filter(({ kind, entrypoint }) => kind !== 'CJSResolvesToESM' || !NEEDS_VITEST.test(entrypoint))
  return wrong.map((problem) => `types: ${JSON.stringify(problem)}`)
}
