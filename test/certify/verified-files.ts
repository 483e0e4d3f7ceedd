import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { certificateOf } from '../../src/certify/certificate.ts'
import { readCertificate, renderJson, verifyCertificate } from '../../src/certify/certificate-file.ts'
import { renderPage } from '../../src/certify/render/document-of.ts'
import { sampleEvidence } from './sample-evidence.ts'

export const certificate = certificateOf(sampleEvidence())
export const forms = { page: renderPage(certificate), JSON: renderJson(certificate) }

/** What is said of a file of this content. */
export async function verified(content: string | Uint8Array) {
  const directory = mkdtempSync(join(tmpdir(), 'yield-sandbox-verified-'))
  try {
    const file = join(directory, 'certificate')
    writeFileSync(file, content)
    return verifyCertificate(await readCertificate(file))
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Changes characters so far apart, each in three ways: with a prime number every part of the file has its turn. */
export function noticesEveryChange(apart: number): void {
  test.each(Object.entries(forms))('no byte of a %s can be changed, added or taken away unnoticed', async (_, text) => {
    for (let at = 0; at < text.length; at += apart) {
      const other = text[at] === 'x' ? 'y' : 'x'
      for (const change of [other, `${text[at]}x`, '']) {
        const changed = text.slice(0, at) + change + text.slice(at + 1)
        const noticed = await verified(changed).then(
          ({ state }) => state !== 'intact',
          (error: Error) => error.name === 'OptionError',
        )
        expect(noticed, `at ${at}: ${text.slice(at - 20, at + 20)}`).toBe(true)
      }
    }
  })
}
