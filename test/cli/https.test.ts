import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { type Command, ROOT, run } from './command.ts'
import { commandStarter } from './command-starter.ts'
import { expectClear } from './expect-clear.ts'
import { runHere } from './in-process.ts'

const startCommand = commandStarter()

function start(args: readonly string[], env: Record<string, string> = {}): Command {
  return startCommand(['--port', '0', '--confirmation-delay', '0', ...args], { env })
}

describe('--tls self-signed', () => {
  test('prints its CA file, which the commands take as a flag or from the environment', async () => {
    const command = start(['--json'], { YIELD_SANDBOX_TLS: 'self-signed' })
    const { base_url: url, ca_file = '' } = await command.credentials()
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    const at = ['--url', url]
    expect(await runHere(['wait', ...at, '--ca', ca_file])).toMatchObject({ code: 0, stdout: 'ready\n' })
    const env = { YIELD_SANDBOX_CA: ca_file }
    expect(await runHere(['status', ...at], env)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ready\t/) })
    expect((await runHere(['user-token', 'alice', ...at], env)).stdout).toMatch(/^ey/)
    expect((await run(['token', ...at], { env: { NODE_EXTRA_CA_CERTS: ca_file } })).stdout).toMatch(/^ey/)
    expect(await runHere(['faults', 'add', 'hang', ...at], env)).toMatchObject({ code: 0 })

    expectClear(await runHere(['status', ...at]), { code: 1, line: /certificate .* is not trusted .*--ca/ })
    const plain = url.replace('https:', 'http:')
    expectClear(await runHere(['status', '--url', plain]), {
      code: 1,
      line: /if the sandbox serves https, give --url with https/,
    })
    expectClear(await runHere(['status', ...at, '--ca', 'none.pem']), { code: 2, line: /--ca.*none\.pem.*ENOENT/ })

    const check = [join(ROOT, 'scripts/healthcheck.mjs'), String(command.child.pid)]
    await promisify(execFile)(process.execPath, check)

    expect(await runHere(['stop', ...at], env)).toMatchObject({ code: 0, stdout: 'stopped\n' })
    expect((await command.ended).code).toBe(0)
    await expect(stat(ca_file)).rejects.toThrow('ENOENT')
  })
})

describe('addresses that cannot be', () => {
  test.each([
    [['--public-url', 'ftp://x'], /--public-url must be an http or https URL/],
    [['--public-url', 'http://x/api'], /--public-url must not have a path/],
    [['--tls', 'yes'], /--tls.*self-signed/],
    [['--tls-cert', 'none.pem'], /--tls-cert needs --tls-key/],
    [
      ['--tls-cert', 'none.pem', '--tls-key', 'none.pem'],
      /none\.pem: it cannot be read \(ENOENT\)\. Fix: .*--tls-cert/,
    ],
  ])('%s', async (args, line) => {
    expectClear(await runHere(['--port', '0', ...args]), { code: 2, line })
  })

  test('a temporary directory that cannot be written to', async () => {
    const ended = await runHere(['--port', '0', '--tls', 'self-signed'], { TMPDIR: '/proc/none' })
    expectClear(ended, { code: expect.any(Number) as unknown as number, line: /\/proc\/none.*(TMPDIR|Fix)/ })
  })
})
