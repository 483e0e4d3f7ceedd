import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { testSandbox } from '../helpers/partner.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** Every block of the tour, as somebody pastes them one after the other. */
async function tour(baseUrl: string): Promise<string> {
  const page = await readFile(join(root, 'docs/tour.md'), 'utf8')
  const blocks = [...page.matchAll(/^```bash\n(.*?)^```/gms)].map(([, block]) => block)
  return ['set -o pipefail', ...blocks].join('\n').replaceAll('http://127.0.0.1:4010', baseUrl)
}

test('the tour works when pasted', async () => {
  await using sandbox = await testSandbox()
  const script = await tour(sandbox.baseUrl)
  const env = { ...process.env, YIELD_SANDBOX_URL: sandbox.baseUrl }
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], { cwd: root, env })
  expect(stderr, 'the dropped connection, and nothing else').toMatch(/^curl: \(\d+\) .*\n$/)
  for (const seen of [
    /"pool_id": "aave-usdc"/,
    /"external_id": "carol"/,
    /^jar_\w{26}$/m,
    /^0x1$/m,
    /^3\d{6}$/m, // 30 days at about 4 % on 1,000 USDC
    /"deposited": "50\d{7}"/,
    /"explanation": "The connection is reset/,
    /^the client knows nothing$/m,
    /^idempotency-key-replay: true/m,
    /^3$/m,
    /deposit\tdropped\t/,
    /^✓ 4 operations told\.$/m,
    /^Passed: \d+ rules kept, none broken\.$/m,
    /^end_user_not_found$/m,
    /"ready":true/,
  ]) {
    expect(stdout).toMatch(seen)
  }
})
