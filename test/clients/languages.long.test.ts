import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { run } from '../cli/command.ts'
import { testSandbox } from '../helpers/partner.ts'
import { EXAMPLES } from '../verdict/clients/build-clients.ts'
import { installed, pythonWith } from '../verdict/clients/installed.ts'

/** Tests of a client in its own language, by the tool that runs tests there. */
interface Suite {
  language: string
  /** Undefined where the machine lacks the language. */
  command: string[] | undefined
  /** Printed when all four tests have passed. */
  passed: RegExp
}

const pytest = pythonWith('pytest', 'requests', 'jwt')
const junit = existsSync('/usr/share/java/junit-platform-console.jar') && installed('javac', '-version')
const go = installed('go', 'version')
const minitest = installed('ruby', '-e', 'require "minitest"')
const goTest = 'cd "$0" && go test -count=1 -v ./...'

const SUITES: Suite[] = [
  {
    language: 'Python',
    command: pytest ? [pytest, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', join(EXAMPLES, 'python')] : undefined,
    passed: /^4 passed/m,
  },
  {
    language: 'Java',
    command: junit ? ['bash', join(EXAMPLES, 'java/test-without-maven.sh')] : undefined,
    passed: /\b4 tests successful/,
  },
  {
    language: 'Go',
    command: go ? ['sh', '-c', goTest, join(EXAMPLES, 'go')] : undefined,
    passed: /(--- PASS[\s\S]*){4}/,
  },
  {
    language: 'Ruby',
    command: minitest ? ['ruby', '-w', join(EXAMPLES, 'ruby/test/yield_client_test.rb')] : undefined,
    passed: /^4 runs, \d+ assertions, 0 failures, 0 errors, 0 skips/m,
  },
]

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testSandbox()
})
afterAll(() => sandbox.stop())

const ENV = { HOME: process.env.HOME ?? '', PYTHONDONTWRITEBYTECODE: '1' }

describe.each(SUITES)('the tests of the client in $language', ({ language, command, passed }) => {
  test('pass, each in a namespace of its own, and leave none behind', async ({ skip }) => {
    if (!command) return skip(`${language}, or its library for tests, is not installed`)
    const [file = '', ...args] = command
    const env = { PATH: process.env.PATH, ...ENV, YIELD_CONTROL_URL: sandbox.controlUrl }
    const { stdout } = await promisify(execFile)(file, args, { env })
    expect(stdout).toMatch(passed)
    expect((await sandbox.namespaces.list()).map(({ name }) => name)).toEqual(['default'])
    expect((await sandbox.faults.list()).length, 'a fault is of one test alone').toBe(0)
  })

  test('pass under exec, which judges them', async ({ skip }) => {
    if (!command) return skip(`${language}, or its library for tests, is not installed`)
    const { code, stdout, stderr } = await run(['exec', '--', ...command], { env: ENV })
    expect(stdout).toMatch(passed)
    expect(stderr).toMatch(/^Passed: \d+ rules kept, none broken\.$/m)
    expect(code).toBe(0)
  })
})
