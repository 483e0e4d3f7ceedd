import { realpathSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { findOrStartSandbox } from '../../src/library/find-or-start-sandbox.ts'
import { writeRecord } from '../../src/running/sandbox-record.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { version } from '../../src/version.ts'

test('the sandbox of a folder is joined, and goes on afterwards', async () => {
  const folder = realpathSync(await mkdtemp(join(tmpdir(), 'yield-sandbox-folder-')))
  vi.stubEnv('XDG_RUNTIME_DIR', folder)
  const running = await Sandbox.listen({ port: 0 })
  try {
    await running.ready
    const { instance, listeningUrl: url } = running
    const started_at = '2026-01-01T00:00:00.000Z'
    writeRecord({ instance, url, pid: process.pid, version, started_at, folder, options: '', unlike: [] })
    const { sandbox, joined } = await findOrStartSandbox({}, folder)
    expect([joined, sandbox.controlUrl]).toEqual([true, `${url}/_sandbox`])
    await sandbox[Symbol.asyncDispose]()
    expect((await fetch(`${url}/_sandbox/health`)).status).toBe(200)
  } finally {
    await running.stop()
    vi.unstubAllEnvs()
    await rm(folder, { recursive: true })
  }
})
