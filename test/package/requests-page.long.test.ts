import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { testSandbox } from '../helpers/partner.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** Without what is another each time. */
const steady = (text: string) =>
  text
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then')
    .replace(/\d+ ms\b/g, 'soon')
    .replace(/(refused it with \w+).*/, '$1')

test('docs/requests.md works when pasted, and shows what is printed', async () => {
  await using sandbox = await testSandbox()
  const page = await readFile(join(root, 'docs/requests.md'), 'utf8')
  const blocks = [...page.matchAll(/^```bash\n(.*?)^```/gms)].map(([, block]) => block)
  expect(blocks).toHaveLength(2)
  const script = ['set -o pipefail', ...blocks]
    .join('\n')
    .replaceAll('http://127.0.0.1:4010', sandbox.baseUrl)
    .replace('> requests.har', '')
  const env = { ...process.env, YIELD_SANDBOX_URL: sandbox.baseUrl }
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], { cwd: root, env })
  expect(stderr).toBe('')
  const shown = /^```text\n(.*?)^```/ms.exec(page)?.[1] ?? ''
  expect(shown.length).toBeGreaterThan(200)
  expect(steady(stdout)).toContain(steady(shown))
  expect(stdout).toMatch(/"version":"1\.2"/)
})
