import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { certificateOf } from '../../src/certify/certificate.ts'
import { renderJson } from '../../src/certify/certificate-file.ts'
import { renderPage } from '../../src/certify/render/document-of.ts'
import { FINDING_IDS } from '../../src/verdict/finding-ids.ts'
import { sampleEvidence } from '../certify/sample-evidence.ts'
import { runHere } from './in-process.ts'

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

test('certify --verify ends with 0 for what is intact, 1 for what was changed, 2 for what is no certificate', async () => {
  const page = await written('page.html', renderPage(certificate))
  expect(await runHere(['certify', '--verify', page])).toEqual({
    code: 0,
    signal: null,
    stdout: `${page}: intact: digest ${certificate.digest}, seed 1, subject "npm", 1 rule kept, 1 broken, ${FINDING_IDS.length - 2} not tested\n`,
    stderr: '',
  })
  const changed = await written(
    'changed.html',
    renderPage(certificate).replace('</main>', '<p>Better than that.</p></main>'),
  )
  expect(await runHere(['certify', '--verify', changed])).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/: changed: its evidence is as it was made, but its words are not/),
  })
  const none = await written('none.json', '{}')
  expect(await runHere(['certify', '--verify', none])).toMatchObject({
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
  const same = await runHere(['certify', '--verify', page, '--verify', json])
  expect(same).toMatchObject({ code: 0, stdout: expect.stringMatching(/\nthe same digest\n$/) })
  const { findings, ...rest } = sampleEvidence()
  const other = await written('two.json', renderJson(certificateOf({ ...rest, findings: findings.slice(1) })))
  const different = await runHere(['certify', '--verify', page, '--verify', other])
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
  expect(await runHere(['certify', ...flags])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(reason),
  })
})
