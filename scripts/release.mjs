// Prepares a release: `npm run release -- 0.3.0`. Sets the version wherever it stands, gives the changelog's section "Unreleased" its
// number and today's date, builds, and has npm rehearse the publication. Then everything is as it was, unless `--commit` is given: that
// commits and tags the release. Nothing is published or pushed. CONTRIBUTING.md has the steps around it.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const root = new URL('..', import.meta.url).pathname
const CHANGED = ['CHANGELOG.md', 'README.md', 'package-lock.json', 'package.json']
/** What npm warns of in every rehearsal by somebody who is not logged in. */
const NOT_LOGGED_IN = /requires you to be logged in/

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { commit: { type: 'boolean', default: false }, branch: { type: 'string', default: 'main' } },
})
const [version] = positionals
const read = (file) => readFileSync(join(root, file), 'utf8')
const git = (...given) => execFileSync('git', given, { cwd: root, encoding: 'utf8' }).trim()

const earlier = JSON.parse(read('package.json')).version
refuseUnready()
let released = false
try {
  for (const [file, text] of [...versions(), ['CHANGELOG.md', changelog()]]) writeFileSync(join(root, file), text)
  rehearse()
  if (values.commit) commit()
  released = values.commit
  const next = 'add --commit. dist/ is of that version until the next build'
  console.log(
    released
      ? `committed and tagged v${version}; git push --follow-tags, npm publish`
      : `${version} can be released; ${next}`,
  )
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  if (!released) git('checkout', '--', ...CHANGED)
}

function refuse(problem, fix) {
  console.error(`${problem}; ${fix}`)
  process.exit(1)
}

/** Ends the process if there is a reason not to release. */
function refuseUnready() {
  const isVersion = /^\d+\.\d+\.\d+(-[\da-z.-]+)?$/.test(version ?? '')
  if (!isVersion || positionals.length > 1) refuse('a release has one version', 'npm run release -- 0.3.0')
  if (!isLater(version, earlier)) refuse(`${version} is not later than ${earlier}`, 'give the next version')
  const branch = git('rev-parse', '--abbrev-ref', 'HEAD')
  if (branch !== values.branch)
    refuse(`this is branch ${branch}`, `release from ${values.branch}, or name another by --branch`)
  if (git('status', '--porcelain') !== '') refuse('there are changes that are not committed', 'commit or stash them')
  if (git('tag', '--list', `v${version}`) !== '') refuse(`the tag v${version} exists`, 'give the next version')
  if (section() === '') refuse('CHANGELOG.md says nothing under "Unreleased"', 'write there what users will notice')
}

/** @returns true if a version comes after another; one with a suffix comes before the same without */
function isLater(one, other) {
  const [a, b] = [one, other].map((text) => text.split('-'))
  const order = a[0].localeCompare(b[0], 'en', { numeric: true })
  if (order !== 0) return order > 0
  return a[1] === undefined
    ? b[1] !== undefined
    : b[1] !== undefined && a[1].localeCompare(b[1], 'en', { numeric: true }) > 0
}

/** Text of the changelog between "Unreleased" and the release before. */
function section() {
  const [, after = ''] = read('CHANGELOG.md').split('## Unreleased\n')
  return after.split('\n## ')[0].trim()
}

function changelog() {
  const today = new Date().toISOString().slice(0, 10)
  return read('CHANGELOG.md').replace('## Unreleased\n', `## Unreleased\n\n## ${version} - ${today}\n`)
}

/** Files that name the version, with the new one. */
function versions() {
  const json = (text) => `${JSON.stringify(text, null, 2)}\n`
  const lock = JSON.parse(read('package-lock.json'))
  lock.version = version
  lock.packages[''].version = version
  return [
    ['package.json', json({ ...JSON.parse(read('package.json')), version })],
    ['package-lock.json', json(lock)],
    ['README.md', read('README.md').replaceAll(`yield-sandbox-${earlier}.tgz`, `yield-sandbox-${version}.tgz`)],
  ]
}

/** Has npm do all but send the package, the build included. Ends the process if it fails or warns. */
function rehearse() {
  // A version with a suffix must not become what people get who ask for none.
  const tag = version.includes('-') ? ['--tag', 'next'] : []
  const { status, stderr } = spawnSync('npm', ['publish', '--dry-run', ...tag], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  const warnings = stderr.split('\n').filter((line) => /^npm (warn|error)/i.test(line) && !NOT_LOGGED_IN.test(line))
  console.log(
    stderr
      .split('\n')
      .filter((line) => /(name|version|size|total files):/.test(line))
      .join('\n'),
  )
  if (status !== 0 || warnings.length > 0) {
    throw new Error(`npm publish --dry-run is not clean:\n${warnings.join('\n') || stderr}`)
  }
}

function commit() {
  git('add', '--', ...CHANGED)
  git('commit', '-m', `Release ${version}`)
  git('tag', '-a', `v${version}`, '-m', `yield-sandbox ${version}`)
}
