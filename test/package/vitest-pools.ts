import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { ROOT } from '../cli/command.ts'

const SUITE = `
import { startSandbox } from 'yield-sandbox'
import { expect, test } from 'vitest'

test('a sandbox has a chain', async () => {
  const sandbox = await startSandbox({ port: 0 })
  expect(await sandbox.chain.getChainId()).toBeGreaterThan(0)
  await sandbox.stop()
})
`

/** Copies what is published into a folder: Vitest would transform a link's target as if it were the project's own code. */
export function install(folder: string): void {
  const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] }
  mkdirSync(folder, { recursive: true })
  for (const file of ['package.json', ...files.filter((name) => !/[*!]/.test(name))])
    cpSync(join(ROOT, file), join(folder, file), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
}

/** Runs a suite that starts a sandbox, in a pool of Vitest's. */
export function expectStarts(pool: string): void {
  const project = mkdtempSync(join(tmpdir(), 'vitest-pool-'))
  onTestFinished(() => rmSync(project, { recursive: true }))
  install(join(project, 'node_modules', 'yield-sandbox'))
  symlinkSync(join(ROOT, 'node_modules', 'vitest'), join(project, 'node_modules', 'vitest'))
  writeFileSync(join(project, 'suite.test.mjs'), SUITE)
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
  const arguments_ = [vitest, 'run', '--pool', pool, '--testTimeout', '120000']
  const { status, stdout, stderr } = spawnSync(process.execPath, arguments_, { cwd: project, encoding: 'utf8' })
  expect({ status, output: `${stdout}${stderr}` }).toMatchObject({ status: 0 })
}
