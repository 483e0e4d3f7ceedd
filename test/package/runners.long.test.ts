import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { ROOT } from '../cli/command.ts'
import { PATIENCE } from '../helpers/patience.ts'
import { FOREIGN, freePort, installForeignRunners, RunnerProject } from './runner-project.ts'

beforeAll(installForeignRunners)

/** Milliseconds: a busy machine needs longer than the runners give by default. */
const PATIENT = String(PATIENCE)

const RUNNERS = {
  vitest: {
    packages: { vitest: ROOT },
    command: [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--testTimeout', PATIENT],
  },
  jest: {
    packages: { jest: FOREIGN },
    command: [join(FOREIGN, 'node_modules/jest/bin/jest.js'), '--testTimeout', PATIENT],
  },
  'node-test': { packages: {}, command: ['--test'] },
  playwright: {
    packages: { '@playwright/test': FOREIGN },
    command: [
      join(FOREIGN, 'node_modules/@playwright/test/cli.js'),
      'test',
      '--reporter',
      'list',
      '--timeout',
      PATIENT,
    ],
  },
}

describe.each(Object.entries(RUNNERS))('the example of %s', (name, { packages, command }) => {
  const [program = '', ...args] = command

  test('is green', async () => {
    const project = new RunnerProject(name, packages as Record<string, string>)
    project.port = await freePort()
    expect(project.run(program, ...args)).toMatchObject({
      status: 0,
      output: expect.stringContaining('alice deposits'),
    })
  })

  test('shows the findings beside a failure, once', async () => {
    const project = new RunnerProject(name, packages as Record<string, string>)
    project.port = await freePort()
    project.payTwice()
    const { status, output } = project.run(program, ...args)
    expect({ status, output }).toMatchObject({
      status: 1,
      output: expect.stringContaining('the first one was dropped'),
    })
    expect(output).toContain('A dropped request was retried with a new Idempotency-Key: this pays twice')
    expect(output).toMatch(/fix +Make the Idempotency-Key once per operation/)
    // All but Vitest repeat the failure after their summary.
    const [before = ''] = output.split(/^.*(?:Test Suites:|failing tests|1 failed$).*$/m)
    const shown = name === 'vitest' ? output : before
    expect(shown.split('What the sandbox saw of this test').length - 1).toBe(1)
  })
})
