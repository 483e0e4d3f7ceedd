import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, describe, expect, test } from 'vitest'

const script = fileURLToPath(new URL('../../scripts/healthcheck.mjs', import.meta.url))

const SERVER = `
  const [host, status] = process.argv.slice(2)
  const answer = (request, response) => response.writeHead(request.url === '/_sandbox/ready' ? Number(status) : 404).end()
  require('node:http').createServer(answer).listen(0, host, () => console.log())`

// Which process listens where is read from /proc.
describe.skipIf(process.platform !== 'linux')('the container health check', () => {
  const folder = mkdtempSync(join(tmpdir(), 'healthcheck-'))
  const executable = join(folder, 'yield-sandbox.js')
  writeFileSync(executable, SERVER)
  const started: ChildProcess[] = []

  afterEach(async () => {
    for (const child of started.splice(0)) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  /** A process that answers `ready` at a port only the system knows. */
  async function listening(host: string, status: number) {
    const child = spawn(process.execPath, [executable, host, String(status)])
    started.push(child)
    await once(child.stdout, 'data')
    return String(child.pid)
  }

  async function check(...args: string[]) {
    const child = spawn(process.execPath, [script, ...args])
    const [code] = await once(child, 'exit')
    return code
  }

  test.each(['127.0.0.1', '0.0.0.0', '::', '::1'])('finds the port of a sandbox that listens at %s', async (host) => {
    expect(await check(await listening(host, 200))).toBe(0)
  })

  test('finds the process by the name of its executable', async () => {
    await listening('127.0.0.1', 200)
    expect(await check()).toBe(0)
  })

  test('fails while the sandbox is not ready, and when nothing listens', async () => {
    expect(await check(await listening('127.0.0.1', 503))).toBe(1)
    const idle = spawn(process.execPath, ['-e', 'process.stdin.resume()'])
    started.push(idle)
    expect(await check(String(idle.pid))).toBe(1)
  })
})
