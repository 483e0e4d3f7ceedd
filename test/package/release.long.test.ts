import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ROOT } from '../cli/command.ts'

const CHANGELOG = '# Changelog\n\n## Unreleased\n\n- Something.\n\n## 0.2.0 - 2026-11-23\n\n- The first.\n'

let folder: string
const git = (...given: string[]) => execFileSync('git', given, { cwd: folder, encoding: 'utf8' }).trim()
const read = (file: string) => readFileSync(join(folder, file), 'utf8')
const write = (file: string, text: string) => writeFileSync(join(folder, file), text)

/** A project with the release script and a build of nothing. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-release-'))
  mkdirSync(join(folder, 'scripts'))
  cpSync(join(ROOT, 'scripts/release.mjs'), join(folder, 'scripts/release.mjs'))
  const project = { name: 'acme-sandbox', version: '0.2.0', license: 'MIT', scripts: { prepublishOnly: 'node -v' } }
  write('package.json', `${JSON.stringify(project, null, 2)}\n`)
  write('package-lock.json', JSON.stringify({ ...project, lockfileVersion: 3, packages: { '': project } }))
  write('README.md', 'npm install ./yield-sandbox-0.2.0.tgz\n')
  write('CHANGELOG.md', CHANGELOG)
  git('init', '--quiet', '--initial-branch', 'main')
  git('config', 'user.email', 'alice@acme.example')
  git('config', 'user.name', 'Alice')
  commitAll()
})
afterEach(() => rmSync(folder, { recursive: true }))

function commitAll(): void {
  git('add', '.')
  git('commit', '--quiet', '--message', 'A state')
}

function release(...given: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/release.mjs', ...given], {
    cwd: folder,
    encoding: 'utf8',
  })
  return { status, output: `${stdout}${stderr}` }
}

describe('a release is refused', () => {
  test.each<[string, string[], () => void, RegExp]>([
    ['without a version', [], () => undefined, /one version; npm run release -- 0\.3\.0/],
    ['that is not later', ['0.2.0'], () => undefined, /0\.2\.0 is not later than 0\.2\.0/],
    ['that comes before', ['0.2.0-rc.1'], () => undefined, /not later/],
    ['on another branch', ['0.10.0'], () => git('switch', '-qc', 'other'), /this is branch other/],
    ['with changes', ['0.3.0'], () => write('README.md', ''), /not committed/],
    ['that is tagged', ['0.3.0'], () => git('tag', 'v0.3.0'), /tag v0\.3\.0 exists/],
    [
      'that nothing is said of',
      ['0.3.0'],
      () => {
        write('CHANGELOG.md', CHANGELOG.replace('- Something.\n', ''))
        commitAll()
      },
      /nothing under "Unreleased"/,
    ],
  ])('%s', (_, given, prepare, words) => {
    prepare()
    expect(release(...given)).toEqual({ status: 1, output: expect.stringMatching(words) })
    expect(JSON.parse(read('package.json')).version).toBe('0.2.0')
  })

  test('that npm warns of, and leaves everything as it was', () => {
    const project = { ...JSON.parse(read('package.json')), bin: { acme: './missing.js' }, repository: 'acme' }
    write('package.json', `${JSON.stringify(project, null, 2)}\n`)
    commitAll()
    expect(release('0.3.0', '--commit')).toEqual({ status: 1, output: expect.stringContaining('is not clean') })
    expect(git('status', '--porcelain')).toBe('')
    expect(git('tag')).toBe('')
  })
})

test('a rehearsal leaves everything as it was', () => {
  expect(release('0.3.0')).toEqual({ status: 0, output: expect.stringContaining('0.3.0 can be released') })
  expect(git('status', '--porcelain')).toBe('')
  expect(git('tag')).toBe('')
})

test('a release has its version everywhere, a section in the changelog, a commit and a tag', () => {
  expect(release('0.3.0', '--commit')).toEqual({ status: 0, output: expect.stringContaining('tagged v0.3.0') })
  expect(git('status', '--porcelain')).toBe('')
  expect(git('describe', '--exact-match')).toBe('v0.3.0')
  expect(JSON.parse(read('package.json')).version).toBe('0.3.0')
  const { version, packages } = JSON.parse(read('package-lock.json'))
  expect([version, packages[''].version]).toEqual(['0.3.0', '0.3.0'])
  expect(read('README.md')).toContain('yield-sandbox-0.3.0.tgz')
  expect(read('CHANGELOG.md')).toMatch(
    /^# Changelog\n\n## Unreleased\n\n## 0\.3\.0 - \d{4}-\d\d-\d\d\n\n- Something\.\n/,
  )
})
