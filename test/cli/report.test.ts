import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { Partner, testSandbox } from '../helpers/partner.ts'
import { runHere } from './in-process.ts'

let sandbox: SandboxHandle
let directory: string
beforeAll(async () => {
  sandbox = await testSandbox()
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-report-'))
})
afterAll(() => Promise.all([sandbox.stop(), rm(directory, { recursive: true })]))
beforeEach(() => sandbox.reset())

const report = (...args: string[]) => runHere(['report', ...args], { YIELD_SANDBOX_URL: sandbox.baseUrl })

/** Retries a dropped deposit, with the same key or a fresh one. */
async function retry(how: 'right' | 'wrong') {
  const partner = new Partner(sandbox)
  const portfolio = await partner.open('alice')
  const key = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
  await sandbox.faults.add({ kind: 'drop_connection', phase: 'after_broadcast', match: { operation: 'deposit' } })
  await expect(partner.deposit('alice', portfolio, '1000', { key })).rejects.toThrow()
  await partner.deposit('alice', portfolio, '1000', how === 'right' ? { key } : {})
}

test('a client that retries with its key passes: 0', async () => {
  await retry('right')
  const { code, stdout, stderr } = await report('--require', 'idempotency-key-on-retry')
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/\nPassed: .*\n$/)
  expect((await report('--verbose')).stdout).toContain('✓ idempotency-key-on-retry: ')
})

test('one that takes a fresh key fails: 3, with both requests, the rule, the fix and the command that shows it again', async () => {
  await retry('wrong')
  const { code, stdout } = await report('--verbose')
  expect(code).toBe(3)
  expect(stdout).toMatch(/\nFailed: alice's deposit of 0\.001 USDC had no answer, was sent again under another key/)
  for (const part of [
    'key aaaaaaaa… → connection reset',
    '→ 200',
    'rule',
    'fix',
    'yield-sandbox exec --scenario dropped-deposit',
  ]) {
    expect(stdout).toContain(part)
  }
})

test('what is required and was not exercised: 4, or 0 when that is allowed', async () => {
  await new Partner(sandbox).get('pools')
  const { code, stdout } = await report('--require', 'reverted-transfer')
  expect(code).toBe(4)
  expect(stdout).toMatch(/\nInconclusive: the required finding reverted-transfer was not exercised\.\n$/)
  expect((await report('--require', 'reverted-transfer', '--allow-inconclusive')).code).toBe(0)
})

test('writes files in the forms of their suffixes', async () => {
  const names = ['r.html', 'r.xml', 'r.sarif', 'r.md', 'r.json', 'r.txt']
  const files = names.map((name) => join(directory, name))
  const { code, stdout } = await report(...files.flatMap((file) => ['--output', file]), '--format', 'json')
  expect([code, JSON.parse(stdout).verdict]).toEqual([4, 'inconclusive'])
  const [html, xml, sarif, markdown, json, text] = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  expect(html).toMatch(/^<!doctype html>/)
  expect(xml).toMatch(/^<\?xml/)
  expect(JSON.parse(sarif!).version).toBe('2.1.0')
  expect(markdown).toMatch(/^## /)
  expect(JSON.parse(json!)).toMatchObject({ verdict: 'inconclusive' })
  expect(text).toMatch(/\nInconclusive: no request of the client came\.\n$/)
})

test.each([
  [['--output', 'report.pdf'], 2, /Its suffix must be one of \.json, \.xml, \.sarif, \.html, \.md, \.txt\./],
  [['--output', '/nowhere/report.html'], 2, /--output \/nowhere\/report\.html cannot be written \(ENOENT/],
  [['--require', 'retry-aftr'], 2, /There is no finding "retry-aftr": did you mean "retry-after"\?/],
  [['--require', 'waits-sixty-seconds'], 2, /write "client-timeout"/],
  [['--format', 'pdf'], 2, /Use one of json, junit, sarif, html, markdown, text/],
])('%j is refused', async (args, code, line) => {
  const ended = await report(...args)
  expect(ended.stderr).toMatch(line)
  expect(ended.code).toBe(code)
})

test('a link that stands where it is to be written is refused: 2, and where it leads nothing changes', async () => {
  const [yours, path] = [join(directory, 'yours'), join(directory, 'link.html')]
  await writeFile(yours, 'mine')
  await symlink(yours, path)
  const { code, stderr } = await report('--output', path)
  expect([code, stderr]).toEqual([2, expect.stringContaining('it is a symbolic link')])
  expect(await readFile(yours, 'utf8')).toBe('mine')
})

test('as JSON it holds no character that a terminal obeys', async () => {
  const partner = new Partner(sandbox)
  await partner.get('end_users/alice/portfolios', { headers: { 'idempotency-key': '\u009bx' } })
  await partner.post('end_users', { external_id: 'alice', note: 1, '\u202e': 2 }, { key: 'a\u009bb' })
  await partner.get('pools?%C2%9B=%E2%80%AE')
  const { stdout } = await report('--format', 'json')
  expect(stdout).not.toMatch(/[\u007f-\u009f\u202a-\u202e]/)
  expect(JSON.parse(stdout)).toMatchObject({ verdict: expect.anything() })
})

test('--open gives the page that was written to the browser, and else the address of the inspector', async () => {
  await retry('right')
  const browser = join(directory, 'browser')
  const opened = join(directory, 'opened')
  // What a browser of BROWSER does: it has the address as its one argument.
  await writeFile(
    browser,
    `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > '${opened}.part'\nmv '${opened}.part' '${opened}'\n`,
    {
      mode: 0o755,
    },
  )
  const env = { YIELD_SANDBOX_URL: sandbox.baseUrl, BROWSER: browser }
  const page = join(directory, 'opened page.html')
  const written = await runHere(['report', '--open', '--output', page], env)
  const { href } = pathToFileURL(page)
  expect(written).toMatchObject({ code: 0, stderr: `yield-sandbox: opened ${href}\n` })
  expect(await eventually(() => readFile(opened, 'utf8'))).toBe(`1\n${href}\n`)
  expect(await readFile(fileURLToPath(href), 'utf8')).toContain('</html>')
  await rm(opened)

  const shown = await runHere(['report', '--open'], env)
  expect(shown.stderr).toBe(`yield-sandbox: opened ${sandbox.baseUrl}/#verdict\n`)
  expect(await eventually(() => readFile(opened, 'utf8'))).toBe(`1\n${sandbox.baseUrl}/#verdict\n`)

  const none = await runHere(['report', '--open'], { ...env, BROWSER: join(directory, 'no-such-browser') })
  expect(none).toMatchObject({
    code: 0,
    stderr: `yield-sandbox: there is no browser to open here; open ${sandbox.baseUrl}/#verdict\n`,
  })
})
