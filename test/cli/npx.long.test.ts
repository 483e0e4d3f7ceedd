import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Credentials } from '../../src/index.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'
import { eventually } from '../helpers/eventually.ts'
import { ROOT } from './command.ts'

/** A project that has the package installed. */
function project(): string {
  const directory = temporaryDirectory()
  mkdirSync(join(directory, 'node_modules/.bin'), { recursive: true })
  symlinkSync(join(ROOT, 'bin/yield-sandbox.js'), join(directory, 'node_modules/.bin/yield-sandbox'))
  return directory
}

// SIGKILL leaves npx's shell behind, and who started what can be seen on Linux only.
const signals = existsSync('/proc/self/stat') ? (['SIGTERM', 'SIGKILL'] as const) : (['SIGTERM'] as const)

test.each(signals)('%s to npx leaves nothing running', async (signal) => {
  const env = { PATH: process.env.PATH, HOME: temporaryDirectory() }
  const args = ['--no-install', 'yield-sandbox', '--port', '0', '--json', '--quiet']
  const npx = spawn('npx', args, { cwd: project(), env, stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = (await once(npx.stdout, 'data')) as [Buffer]
  const { base_url }: Credentials = JSON.parse(line.toString())
  const alive = () =>
    fetch(base_url).then(
      () => true,
      () => false,
    )
  expect(await alive()).toBe(true)
  npx.kill(signal)
  await eventually(async () => expect(await alive()).toBe(false), 100)
})
