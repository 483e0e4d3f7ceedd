import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { certificateOf } from '../../src/certify/certificate.ts'
import { renderJson } from '../../src/certify/certificate-file.ts'
import { renderPage } from '../../src/certify/render/render-page.ts'
import { FINDING_IDS } from '../../src/verdict/finding-ids.ts'
import { sampleEvidence } from '../certify/sample-evidence.ts'
import { run } from './command.ts'
import { writeClients } from './exec-clients.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-certify-'))
})
afterAll(() => rm(directory, { recursive: true }))

async function written(name: string, text: string): Promise<string> {
  const path = join(directory, name)
  await writeFile(path, text)
  return path
}

const certificate = certificateOf(sampleEvidence())

// Its client asks for the pools and waits for ever where it gets no answer: a run that hangs takes the four seconds.
test('certify takes --before, --restarts and --verbose, and the page names them', async () => {
  const [page, prepared] = [join(directory, 'own', 'page.html'), join(directory, 'prepared')]
  const flags = ['--output', page, '--timeout', '4s', '--before', 'echo >> "$PREPARED"', '--restarts', '1', '--verbose']
  const ended = await run(['certify', ...flags, '--', ...writeClients(directory)('pools')], {
    env: { PREPARED: prepared },
  })
  expect(ended.stderr).toMatch(/^✗ list_pools#1 hang-on-request: hung/m)
  expect(ended.stderr).toMatch(/^· A transfer whose outcome is unknown moves its money once \(single-transfer\)$/m)
  expect(ended.stderr).toMatch(/^\? slow-confirmation: inconclusive, the command ended well$/m)
  expect(ended.stderr).toMatch(
    /^yield-sandbox: scenario dropped-deposit: Inconclusive: the required finding \S+ was not/m,
  )
  expect(ended.code).toBe(3)
  const [, runs] = /, (\d+) runs$/m.exec(ended.stderr) ?? []
  // Twice without a fault, once with each, and once in each of twelve scenarios.
  expect(await readFile(prepared, 'utf8')).toHaveLength(2 + Number(runs) + 12)
  const same = '--timeout 4000ms --before &#39;echo &gt;&gt; &quot;$PREPARED&quot;&#39; --restarts 1 -- '
  expect(await readFile(page, 'utf8')).toContain(`yield-sandbox certify --seed 1 --clock 2026-01-01T00:00:00Z ${same}`)
  expect(await readFile(page, 'utf8')).toContain(`exec --scenario idp-token-expiry --seed 1 ${same}`)
  const verified = await run(['certify', '--verify', page.replace('.html', '.json')])
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining(': intact: ') })
})

test('certify --verify ends with 0 for what is intact, 1 for what was changed, 2 for what is no certificate', async () => {
  const page = await written('page.html', renderPage(certificate))
  expect(await run(['certify', '--verify', page])).toEqual({
    code: 0,
    signal: null,
    stdout: `${page}: intact: digest ${certificate.digest}, seed 1, subject "npm", 1 rule kept, 1 broken, ${FINDING_IDS.length - 2} not tested\n`,
    stderr: '',
  })
  const changed = await written(
    'changed.html',
    renderPage(certificate).replace('</main>', '<p>Better than that.</p></main>'),
  )
  expect(await run(['certify', '--verify', changed])).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/: changed: its evidence is as it was made, but its words are not/),
  })
  const none = await written('none.json', '{}')
  expect(await run(['certify', '--verify', none])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/none.json holds no certificate/),
  })
})

test('certify --verify given twice compares', async () => {
  const [page, json] = [
    await written('one.html', renderPage(certificate)),
    await written('one.json', renderJson(certificate)),
  ]
  const same = await run(['certify', '--verify', page, '--verify', json])
  expect(same).toMatchObject({ code: 0, stdout: expect.stringMatching(/\nthe same digest\n$/) })
  const { findings, ...rest } = sampleEvidence()
  const other = await written('two.json', renderJson(certificateOf({ ...rest, findings: findings.slice(1) })))
  const different = await run(['certify', '--verify', page, '--verify', other])
  expect(different).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/\nfinding idempotency-key-on-retry: .* in the first, not there in the second\n$/),
  })
})

test.each([
  [[], /needs a command after --, or --verify/],
  [['--verify', 'a.html', '--', 'true'], /--verify runs no command/],
  [['--verify', 'a.html', '--verify', 'b.html', '--verify', 'c.html'], /two files at most/],
  [['--verify', '/nowhere/a.html'], /a.html cannot be read \(ENOENT\)/],
  [['--output', 'page.pdf', '--', 'true'], /--output "page.pdf" must end in .html/],
  [['--subject', 'x'.repeat(201), '--', 'true'], /--subject .* at most 200 characters/],
  [['--fixtures', '/nowhere/fixtures.yaml', '--', 'true'], /fixtures.yaml/],
])('certify %j is refused', async (flags, reason) => {
  expect(await run(['certify', ...flags])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(reason) })
})
