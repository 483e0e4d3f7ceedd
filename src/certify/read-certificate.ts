import { readFile } from 'node:fs/promises'
import { Value } from '@sinclair/typebox/value'
import { OptionError } from '../option-error.ts'
import { jsonObject } from '../support/json-object.ts'
import { shorten } from '../support/shorten.ts'
import { version } from '../version.ts'
import type { Certificate } from './certificate.ts'
import { EvidenceSchema, FORM } from './evidence.ts'
import { EMBEDDED } from './render/render-page.ts'

/** A certificate as it is in a file. */
export interface CertificateFile {
  path: string
  text: string
  form: 'html' | 'json'
  certificate: Certificate
}

/** Reads the certificate that a page or a JSON file holds. Throws OptionError when it holds none. */
export async function readCertificate(path: string): Promise<CertificateFile> {
  const text = await textOf(path)
  const form = text.trimStart().startsWith('{') ? 'json' : 'html'
  const { digest, evidence } = jsonObject(form === 'json' ? text : embeddedIn(text)) ?? {}
  if (typeof digest !== 'string' || evidence === undefined) {
    throw new OptionError(`--verify: ${path} holds no certificate of yield-sandbox`)
  }
  refuseOtherForms(path, evidence)
  if (!Value.Check(EvidenceSchema, evidence)) {
    const first = Value.Errors(EvidenceSchema, evidence).First()
    const where = `${first?.path || 'as a whole'}: ${first?.message}`
    throw new OptionError(`--verify: ${path} holds no certificate that this version can read (evidence ${where})`)
  }
  return { path, text, form, certificate: { digest, evidence } }
}

/** Says which version wrote what this one cannot read. Throws OptionError. */
function refuseOtherForms(path: string, evidence: unknown): void {
  const { form, version: writer } = Object(evidence) as Record<string, unknown>
  const said = String(form)
  if (said === FORM || !/^yield-sandbox certificate \d{1,6}$/.test(said)) return
  const by = typeof writer === 'string' ? `yield-sandbox ${shorten(writer, 40)}` : 'another version of yield-sandbox'
  throw new OptionError(
    `--verify: ${path} was written by ${by} in the form "${said}"; this is yield-sandbox ${version}, which reads "${FORM}": verify it with the version that wrote it`,
  )
}

async function textOf(path: string): Promise<string> {
  try {
    // A byte that is no UTF-8 is none of a certificate; decoded leniently, it might look like another.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new OptionError(
      `--verify: ${path} ${code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not a text file' : `cannot be read (${code})`}`,
    )
  }
}

/** The text between the marks; of several, the last: what is shown of a command stands before it. Without marks, what is no certificate. */
function embeddedIn(page: string): string {
  const begin = page.lastIndexOf(EMBEDDED.begin)
  return page.slice(begin + EMBEDDED.begin.length, page.indexOf(EMBEDDED.end, begin))
}
