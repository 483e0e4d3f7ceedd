import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { ROOT } from './command.ts'

// Of a reader that has gone before: small-commands.test.ts.
test('openapi ends quietly when whoever reads it has read enough', async () => {
  const child = spawn(process.execPath, ['bin/yield-sandbox.js', 'openapi'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  child.stdout.once('data', () => child.stdout.destroy())
  const [code] = await once(child, 'close')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})
