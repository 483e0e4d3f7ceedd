import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { blocksOf } from '../../scripts/extract-blocks.mjs'
import { ROOT } from '../cli/command.ts'
import { partnerAt, testSandbox } from '../helpers/partner.ts'

const ran = promisify(execFile)

/** Pages whose commands ask a sandbox that runs; those that start their own are tested where they are built. */
const PAGES = ['control', 'requests', 'namespaces', 'scenarios', 'money', 'transactions', 'troubleshooting']
/** Blocks that cannot be run here, by a text of theirs: an address of a team's, a command that starts its own. */
const NOT_HERE = ['https://sandbox.acme.test', 'yield-sandbox exec']

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-blocks-'))
  symlinkSync(join(ROOT, 'bin'), join(folder, 'bin'))
  const command = join(folder, 'yield-sandbox')
  writeFileSync(command, `#!/bin/sh\nexec ${process.execPath} ${join(ROOT, 'bin/yield-sandbox.js')} "$@"\n`, {
    mode: 0o755,
  })
})
afterAll(() => rmSync(folder, { recursive: true }))

test.each(PAGES)('the commands of docs/%s.md do what they say', async (page) => {
  await using sandbox = await testSandbox()
  const acme = partnerAt(await sandbox.credentials())
  const { data } = (await acme.get('end_users/alice/transactions')).body as { data: { tx_hash: string }[] }
  const blocks = blocksOf(`docs/${page}.md`, ['sh', 'bash']).filter(
    (block) => !NOT_HERE.some((text) => block.includes(text)),
  )
  expect(blocks.length).toBeGreaterThan(0)
  const script = ['set -e', 'curl() { command curl --fail-with-body "$@"; }', ...blocks]
    .join('\n')
    .replaceAll('http://127.0.0.1:4010', sandbox.baseUrl)
    .replaceAll('<request_id>', 'latest')
  const env = {
    ...process.env,
    PATH: `${folder}:${process.env.PATH}`,
    YIELD_SANDBOX_URL: sandbox.baseUrl,
    BASE: sandbox.baseUrl,
    HASH: data[0]!.tx_hash,
  }
  await ran('bash', ['-c', script], { cwd: folder, env })
})
