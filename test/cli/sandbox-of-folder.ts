import { afterAll, beforeAll } from 'vitest'
import { recordStart } from '../../src/cli/recorded-start.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { usePrivatePlace } from './private-place.ts'

/**
 * For the tests of a file: a sandbox that runs for this folder. Commands that are given the environment which this returns run within it,
 * with its Anvils, at a fraction of what a sandbox of their own costs. They print one more line, which says so.
 */
export function sandboxOfFolder(): () => Record<string, string> {
  usePrivatePlace()
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await Sandbox.listen({ port: 0 })
    await sandbox.ready
    if (!(await recordStart(sandbox, {}, undefined))) throw new Error('the sandbox could not be written down')
  })
  afterAll(() => sandbox.stop())
  return () => ({ XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR! })
}
