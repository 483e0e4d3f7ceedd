import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { certificateOf } from '../../src/certify/certificate.ts'
import { readCertificate } from '../../src/certify/read-certificate.ts'
import { renderJson } from '../../src/certify/render/render-json.ts'
import { renderPage } from '../../src/certify/render/render-page.ts'
import { verifyCertificate } from '../../src/certify/verify-certificate.ts'
import { HOSTILE } from '../verdict/render/sample-report.ts'
import { sampleEvidence } from './sample-evidence.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-certify-'))
})
afterAll(() => rm(directory, { recursive: true }))

async function verified(content: string | Uint8Array) {
  const file = join(directory, 'certificate')
  await writeFile(file, content)
  return verifyCertificate(await readCertificate(file))
}

const certificate = certificateOf(sampleEvidence())
const forms = { page: renderPage(certificate), JSON: renderJson(certificate) }

test.each(Object.entries(forms))('a %s is intact as it was made', async (_, text) => {
  expect(await verified(text)).toEqual({
    intact: true,
    sentence: `intact: digest ${certificate.digest}, seed 1, subject "npm", 1 proved, 1 contradicted, 27 unproved`,
  })
})

test.each(HOSTILE.map((text) => text.slice(0, 500)))('is intact whatever is in it (%#)', async (text) => {
  const hostile = certificateOf(sampleEvidence(text))
  expect(await verified(renderPage(hostile))).toMatchObject({ intact: true })
  expect(await verified(renderJson(hostile))).toMatchObject({ intact: true })
})

test.each(Object.entries(forms))('no byte of a %s can be changed, added or taken away unnoticed', async (_, text) => {
  // A prime number of characters apart: every part of the file has its turn.
  for (let at = 0; at < text.length; at += 97) {
    const other = text[at] === 'x' ? 'y' : 'x'
    for (const change of [other, `${text[at]}x`, '']) {
      const changed = text.slice(0, at) + change + text.slice(at + 1)
      const noticed = await verified(changed).then(
        ({ intact }) => !intact,
        (error: Error) => error.name === 'OptionError',
      )
      expect(noticed, `at ${at}: ${text.slice(at - 20, at + 20)}`).toBe(true)
    }
  }
})

test('evidence that was changed with all its words is noticed by the digest', async () => {
  const better = { ...certificate, evidence: { ...certificate.evidence, subject: 'another' } }
  expect(await verified(renderPage(better))).toEqual({
    intact: false,
    sentence: expect.stringMatching(/^changed: its evidence has the digest sha256:\w+, and it names sha256:/),
  })
})

test('words that were changed beside the evidence are noticed', async () => {
  const changed = forms.page.replace('>1</dd>', '>2</dd>')
  expect(await verified(changed)).toMatchObject({ intact: false, sentence: expect.stringMatching(/its words are not/) })
})

test('of what another version made, only the digest is checked, and it says so', async () => {
  const older = certificateOf({ ...sampleEvidence(), version: '0.0.9' })
  const changed = renderPage(older).replace('Made by', 'Wrought by')
  expect(await verified(changed)).toEqual({
    intact: true,
    sentence: expect.stringMatching(/made by version "0.0.9": only the digest was checked, not the words/),
  })
  expect(await verified(changed.replace('"seed":1', '"seed":2'))).toMatchObject({ intact: false })
})

test.each([
  ['nothing', ''],
  ['something else', '<!doctype html><p>hello'],
  ['other JSON', '{"verdict":"passed"}'],
  ['a page that was cut short', forms.page.slice(0, -40)],
  ['evidence that is none', '{"digest":"x","evidence":{}}'],
  ['no text', new Uint8Array([0xff, 0xfe, 0x7b])],
])('%s is no certificate', async (_, content) => {
  await expect(verified(content)).rejects.toThrow(/^--verify: .* (holds no certificate|is no text)/)
})
