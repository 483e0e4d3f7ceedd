import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { certificateOf } from '../../src/certify/certificate.ts'
import { readCertificate, renderJson } from '../../src/certify/certificate-file.ts'
import { renderPage } from '../../src/certify/render/document-of.ts'
import { verifyFiles } from '../../src/cli/run-certify.ts'
import { OptionError } from '../../src/option-error.ts'
import { FINDING_IDS } from '../../src/verdict/finding-ids.ts'
import { version } from '../../src/version.ts'
import { HOSTILE } from '../verdict/render/sample-report.ts'
import { sampleEvidence } from './sample-evidence.ts'
import { certificate, forms, noticesEveryChange, verified } from './verified-files.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-certify-'))
})
afterAll(() => rm(directory, { recursive: true }))

test.each(Object.entries(forms))('a %s is intact as it was made', async (_, text) => {
  expect(await verified(text)).toEqual({
    state: 'intact',
    sentence: `intact: digest ${certificate.digest}, seed 1, subject "npm", 1 rule kept, 1 broken, ${FINDING_IDS.length - 2} not tested`,
  })
})

test.each(HOSTILE.map((text) => text.slice(0, 500)))('is intact whatever is in it (%#)', async (text) => {
  const hostile = certificateOf(sampleEvidence(text))
  expect(await verified(renderPage(hostile))).toMatchObject({ state: 'intact' })
  expect(await verified(renderJson(hostile))).toMatchObject({ state: 'intact' })
})

// Closer to each other: verify.long.test.ts.
noticesEveryChange(797)

test('names a subject only if there is one', async () => {
  const nobody = certificateOf({ ...sampleEvidence(), subject: null })
  expect((await verified(renderJson(nobody))).sentence).toContain(', seed 1, no subject, ')
})

test('evidence that was changed with all its words is noticed by the digest', async () => {
  const better = { ...certificate, evidence: { ...certificate.evidence, subject: 'another' } }
  expect(await verified(renderPage(better))).toEqual({
    state: 'changed',
    sentence: expect.stringMatching(/^changed: its evidence has the digest sha256:\w+, and it names sha256:/),
  })
})

test('words that were changed beside the evidence are noticed', async () => {
  const changed = forms.page.replace(' 1</dd>', ' 2</dd>')
  expect(await verified(changed)).toMatchObject({
    state: 'changed',
    sentence: expect.stringMatching(/its words are not/),
  })
})

test.each([
  ['as it was made', (page: string) => page],
  ['with altered words', (page: string) => page.replace('Made by', 'Wrought by')],
])('what another version made is never called intact: %s', async (_, change) => {
  const older = certificateOf({ ...sampleEvidence(), version: '0.0.9' })
  for (const text of [renderPage(older), renderJson(older)].map(change)) {
    expect(await verified(text)).toEqual({
      state: 'not_compared',
      sentence: `not compared: only the digest ${older.digest} fits its evidence, which says that version "0.0.9" wrote it; the words could not be compared, since this is ${version}: verify it with that version`,
    })
    expect(await verified(text.replace(/"seed": ?1/, '"seed":2'))).toMatchObject({ state: 'changed' })
  }
})

test.each([
  ['yield-sandbox certificate 1', '0.1.0', 'yield-sandbox 0.1.0'],
  ['yield-sandbox certificate 3', undefined, 'another version of yield-sandbox'],
])('%s is refused by what wrote it', async (form, writer, by) => {
  const text = JSON.stringify({ digest: 'sha256:0', evidence: { form, version: writer } })
  await expect(verified(text)).rejects.toThrow(
    `was written by ${by} in the form "${form}"; this is yield-sandbox ${version}, which reads "yield-sandbox certificate 2": verify it with the version that wrote it`,
  )
})

test.each<[string, string | Uint8Array, RegExp]>([
  ['a digest without evidence', '{"digest":"sha256:0"}', /holds no certificate of yield-sandbox$/],
  ['evidence without a digest', '{"evidence":{}}', /holds no certificate of yield-sandbox$/],
  ['a page without the marks', '<!doctype html><p>Nothing.</p>', /holds no certificate of yield-sandbox$/],
  ['a page that ends before the mark', forms.page.slice(0, -100), /holds no certificate of yield-sandbox$/],
  ['evidence that is a number', '{"digest":"d","evidence":7}', /\(evidence as a whole: Expected object\)$/],
  ['evidence without a part', '{"digest":"d","evidence":{}}', /\(evidence \/form: .+\)$/],
  ['another form that only begins like one', formed('yield-sandbox certificate 2b'), /\(evidence \//],
  ['a form that is no text', formed(7), /\(evidence \//],
  ['a form of two digits', formed('yield-sandbox certificate 12'), /in the form "yield-sandbox certificate 12"; /],
  ['what is no text', new Uint8Array([0x7b, 0xff, 0x7d]), /certificate is not a text file$/],
  ['a byte order mark', `\ufeff${forms.JSON}`, /holds no certificate of yield-sandbox$/],
])('%s is refused', async (_, content, message) => {
  const refused = verified(content)
  await expect(refused).rejects.toThrow(OptionError)
  await expect(refused).rejects.toThrow(message)
})

test('a file that is not there is refused', async () => {
  await expect(readCertificate('/nowhere/page.html')).rejects.toThrow(/page.html cannot be read \(ENOENT\)$/)
})

test('JSON may stand after blanks, and is read as JSON', async () => {
  expect(await verified(`\n ${forms.JSON}`)).toMatchObject({ state: 'changed' })
})

function formed(form: unknown): string {
  return JSON.stringify({ digest: 'd', evidence: { ...sampleEvidence(), form } })
}

test('exits with 0 for what is intact, 1 for what was changed, and 4 for the words of another version', async () => {
  const exitCode = async (...texts: string[]) => {
    const files = texts.map((_, i) => join(directory, `certificate-${i}.html`))
    for (const [i, file] of files.entries()) await writeFile(file, texts[i]!)
    return (await verifyFiles(files)).exit_code
  }
  const older = renderPage(certificateOf({ ...sampleEvidence(), version: '0.0.9' }))
  const changed = forms.page.replace('Made by', 'Wrought by')
  const other = renderPage(
    certificateOf({ ...sampleEvidence(), exploration: { ...sampleEvidence().exploration, repeatable: false } }),
  )
  expect(await exitCode(forms.page)).toBe(0)
  expect(await exitCode(changed)).toBe(1)
  expect(await exitCode(older)).toBe(4)
  expect(await exitCode(forms.page, forms.page)).toBe(0)
  expect(await exitCode(forms.page, other)).toBe(1)
  expect(await exitCode(forms.page, older)).toBe(4)
  expect(await exitCode(older, changed)).toBe(1)
})

test.each([
  ['nothing', ''],
  ['something else', '<!doctype html><p>hello'],
  ['other JSON', '{"verdict":"passed"}'],
  ['a page that was cut short', forms.page.slice(0, -40)],
  ['evidence that is none', '{"digest":"x","evidence":{}}'],
  ['no text', new Uint8Array([0xff, 0xfe, 0x7b])],
  ['a digest without evidence', '{"digest":"sha256:0"}'],
  ['evidence without a digest', JSON.stringify({ evidence: certificate.evidence })],
  ['a form of something else', '{"digest":"x","evidence":{"form":"my yield-sandbox certificate 1"}}'],
])('%s is no certificate', async (_, content) => {
  await expect(verified(content)).rejects.toThrow(/^--verify: .* (holds no certificate|is not a text file)/)
})
