import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../cli/command.ts'
import { usePrivatePlace } from '../cli/private-place.ts'
import { ProjectFolder } from '../cli/project-folder.ts'
import { isAlive } from '../helpers/children-of.ts'
import { PATIENCE } from '../helpers/patience.ts'
import { RunnerProject } from './runner-project.ts'

usePrivatePlace()

const RUNNERS = {
  vitest: {
    packages: { vitest: ROOT },
    command: [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--testTimeout', String(PATIENCE)],
  },
  'node-test': { packages: {}, command: ['--test'] },
}

/** The name that a further namespace is given: it counts those that were there before. */
async function nextName(folder: ProjectFolder): Promise<string | undefined> {
  const { stdout } = await folder.run('namespaces', 'create', '--json')
  return /"control_url":"[^"]*\/namespaces\/([^"/]+)/.exec(stdout)?.[1]
}

describe.each(Object.entries(RUNNERS))('the example of %s', (name, { packages, command }) => {
  const [program = '', ...args] = command

  test('has its namespace in the sandbox that runs for its folder, which goes on', async () => {
    const project = new RunnerProject(name, packages as Record<string, string>)
    const folder = new ProjectFolder(project.folder)
    // With a delay that nobody waits for: a namespace of a test has none, as in a sandbox of its own.
    const delayed = ['--confirmation-delay', '30m']
    expect(await folder.run('start', '--background', ...delayed)).toMatchObject({ code: 0 })
    const { url, pid } = folder.record!
    const { status, output } = project.run(program, ...args)
    expect({ status, output }).toMatchObject({
      status: 0,
      output: expect.stringContaining(`the tests use the sandbox of ${folder.path} at ${url} (YIELD_SANDBOX_NO_JOIN=1`),
    })
    expect((await folder.run('namespaces', 'list')).stdout).toMatch(/^default\b.*\n$/)
    expect(await nextName(folder)).toBe('namespace-2')
    expect(isAlive(pid)).toBe(true)
  })

  test('has a sandbox of its own if the one of its folder is another one, and says why', async () => {
    const project = new RunnerProject(name, packages as Record<string, string>)
    const folder = new ProjectFolder(project.folder)
    expect(await folder.run('start', '--background', '--record-exchanges', '5')).toMatchObject({ code: 0 })
    const { url } = folder.record!
    const { status, output } = project.run(program, ...args)
    expect({ status, output }).toMatchObject({
      status: 0,
      output: expect.stringContaining(
        `the tests start a sandbox of their own: that of this folder, at ${url}, was started with --record-exchanges`,
      ),
    })
    expect(await nextName(folder)).toBe('namespace-1')
  })
})

test('the set-up of Vitest asks for another one by its options', async () => {
  const project = new RunnerProject('vitest', RUNNERS.vitest.packages)
  const folder = new ProjectFolder(project.folder)
  writeFileSync(
    join(project.folder, 'setup.mjs'),
    "import { sandboxSetup } from 'yield-sandbox/vitest/setup'\nexport default sandboxSetup({ seed: 7, maxNodes: 3 })\n",
  )
  writeFileSync(join(project.folder, 'vitest.config.mjs'), "export default { test: { globalSetup: './setup.mjs' } }\n")
  expect(await folder.run('start', '--background')).toMatchObject({ code: 0 })
  const [program = '', ...args] = RUNNERS.vitest.command
  const { status, output } = project.run(program, ...args)
  expect({ status, output }).toMatchObject({
    status: 0,
    output: expect.stringContaining('the tests start a sandbox of their own: the set-up asks for --max-nodes'),
  })
  expect(await nextName(folder)).toBe('namespace-1')
})
