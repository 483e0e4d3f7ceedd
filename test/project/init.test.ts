import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { mappingsOf } from '../../src/project/environment-names.ts'
import { findTestRunner } from '../../src/project/test-runner.ts'
import { expectClear } from '../cli/expect-clear.ts'
import { runHere } from '../cli/in-process.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'yield-sandbox-init-'))
})
afterEach(() => rmSync(root, { recursive: true }))

function make(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const packageOf = (test: string | undefined, packages = {}) =>
  JSON.stringify({ scripts: { ...(test !== undefined && { test }) }, devDependencies: packages })

describe('the test runner', () => {
  test.each([
    [{ 'package.json': packageOf('vitest run') }, 'vitest', 'npm test', 'npm install'],
    [{ 'package.json': packageOf('jest --ci'), 'package-lock.json': '{}' }, 'jest', 'npm test', 'npm ci'],
    [{ 'package.json': packageOf(undefined, { mocha: '1' }) }, 'mocha', 'npx mocha', 'npm install'],
    [{ 'package.json': packageOf('node --test'), 'yarn.lock': '' }, 'node --test', 'yarn test', 'corepack enable'],
    [
      { 'package.json': packageOf(undefined, { '@playwright/test': '1' }) },
      'playwright',
      'npx playwright',
      'npm install',
    ],
    [
      { 'package.json': packageOf('echo "Error: no test specified" && exit 1'), 'go.mod': '' },
      'go',
      'go test ./...',
      undefined,
    ],
    [{ 'pyproject.toml': '[tool.pytest]' }, 'pytest', 'pytest', 'pip install pytest .'],
    [{ 'pom.xml': '<project/>' }, 'maven', 'mvn -B test', undefined],
    [{}, 'unknown', 'npm test', undefined],
    [{ 'package.json': '{' }, 'unknown', 'npm test', 'npm install'],
  ])('of %j is %s', (files: Record<string, string>, name, command, install) => {
    const found = findTestRunner((path) => files[path])
    expect([found.name, found.command, found.install[0]]).toEqual([name, command, install])
  })
})

test('names are mapped; certain are those that name the service', () => {
  const names = ['YIELD_API_URL', 'PORTFOLIO_CLIENT_ID', 'OAUTH_TOKEN_URL', 'DATABASE_URL', 'YIELD_BASE_URL', 'PORT']
  expect(mappingsOf([...names, 'API_BASE_URL'])).toEqual([
    { theirs: 'PORTFOLIO_CLIENT_ID', ours: 'YIELD_CLIENT_ID', certain: true },
    { theirs: 'YIELD_API_URL', ours: 'YIELD_BASE_URL', certain: true },
    { theirs: 'API_BASE_URL', ours: 'YIELD_BASE_URL', certain: false },
    { theirs: 'OAUTH_TOKEN_URL', ours: 'YIELD_AUTH_URL', certain: false },
  ])
})

describe('init', () => {
  const app = {
    'package.json': '{\n    "name": "app",\n    "scripts": { "test": "vitest run" }\n}\n',
    '.env.example': 'YIELD_CLIENT_ID_=x\nYIELD_API_URL=http://secret-host\n# OAUTH_CLIENT_ID=abc\n',
    'src/client.ts': "const at = process.env.YIELD_TOKEN_URL ?? process.env['API_BASE_URL']",
    'node_modules/x/index.js': 'process.env.OTHER_BASE_URL',
  }
  const FLAGS = ['--env YIELD_API_URL=YIELD_BASE_URL', '--env YIELD_TOKEN_URL=YIELD_AUTH_URL']

  test('writes a CI file with the command and the certain names, says so, and overwrites nothing', async () => {
    make(app)
    const { code, stdout, stderr } = await runHere(['init', root])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^tests: vitest, by npm test$/m)
    expect(stdout).toMatch(/^# --env OAUTH_CLIENT_ID=YIELD_CLIENT_ID$/m)
    expect(stdout).toMatch(/^\.github\/workflows\/yield-sandbox\.yml: written$/m)
    expect(stdout).not.toMatch(/secret-host|OTHER/)
    const text = read('.github/workflows/yield-sandbox.yml')
    expect(text).toContain('# If API_BASE_URL is of this service, add: --env API_BASE_URL=YIELD_BASE_URL')
    const { steps } = parse(text).jobs.sandbox
    const { run } = steps.find(({ name }: { name?: string }) => name === 'Test against the sandbox')
    expect(run).toContain(`${FLAGS.join(' ')} -- npm test`)
    expect(run).not.toContain('API_URL=YIELD_BASE_URL --env API')
    writeFileSync(join(root, '.github/workflows/yield-sandbox.yml'), 'mine')
    expect((await runHere(['init', root])).stdout).toMatch(/yield-sandbox\.yml: there already$/m)
    expect(read('.github/workflows/yield-sandbox.yml')).toBe('mine')
    expect(read('package.json')).toBe(app['package.json'])
  })

  test('--dry-run writes nothing', async () => {
    make(app)
    const { stdout } = await runHere(['init', root, '--dry-run', '--write', '--json'])
    const states = JSON.parse(stdout).files.map(({ state }: { state: string }) => state)
    expect(states).toEqual(['would be written', 'would be written'])
    expect(existsSync(join(root, '.github'))).toBe(false)
    expect(read('package.json')).toBe(app['package.json'])
  })

  test('--write adds a script that npm runs, indented as the file was, once', async () => {
    make(app)
    await runHere(['init', root, '--write'])
    expect(read('package.json')).toMatch(/^ {4}"name": "app",\n(?:.*\n)* {8}"test:yield": "yield-sandbox exec --env/m)
    const { scripts } = JSON.parse(read('package.json'))
    expect(scripts).toEqual({ test: 'vitest run', 'test:yield': `yield-sandbox exec ${FLAGS.join(' ')} -- npm test` })
    execFileSync('sh', ['-n', '-c', scripts['test:yield']])
    expect((await runHere(['init', root, '--write'])).stdout).toMatch(/^package\.json: there already$/m)
  })

  test('where GitLab is used, its file is written, beside that of the project if there is one', async () => {
    make({ 'go.mod': 'module app', '.git/config': '[remote "origin"]\n  url = git@gitlab.com:acme/app.git\n' })
    await runHere(['init', root])
    const { yield: job } = parse(read('.gitlab-ci.yml'))
    expect(job.script.join('\n')).toContain('-- go test ./...')
    writeFileSync(join(root, '.gitlab-ci.yml'), 'stages: [test]\n')
    const { stdout } = await runHere(['init', root])
    expect(stdout).toMatch(/add to \.gitlab-ci\.yml: {2}include: \[\{ local: \.gitlab\/yield-sandbox\.yml \}\]/)
    expect(parse(read('.gitlab/yield-sandbox.yml'))).not.toHaveProperty('stages')
    expect(read('.gitlab-ci.yml')).toBe('stages: [test]\n')
  })

  test('a folder that is not there is refused', async () => {
    expectClear(await runHere(['init', join(root, 'nope')]), { code: 2, line: /there is no folder .*nope/ })
  })
})
