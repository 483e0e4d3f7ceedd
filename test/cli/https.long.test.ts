import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { commandStarter } from './command-starter.ts'

const start = commandStarter()

// Over HTTP: start.test.ts.
test('--tls self-signed prints lines that work when pasted into a shell', async () => {
  const banner = await start(['--port', '0', '--tls', 'self-signed']).prints(/[\s\S]*curl -s .*\/v1\/[\s\S]*\n/)
  expect(banner).toMatch(/CA file: +\/\S+ca\.pem/)
  const pasted = banner.split('\n').filter((line) => /^(TOKEN=|curl )/.test(line))
  const { stdout } = await promisify(execFile)('sh', ['-c', pasted.join('\n')])
  expect(JSON.parse(stdout).data).toHaveLength(4)
})
