import { readFile } from 'node:fs/promises'
import { Value } from '@sinclair/typebox/value'
import { writeOwn, writing } from '../exec/report-files.ts'
import { OptionError } from '../option-error.ts'
import { shorten, visibleText } from '../support/foreign-text.ts'
import { jsonObject } from '../support/json.ts'
import { plural } from '../verdict/evidence/words.ts'
import { version } from '../version.ts'
import { type Certificate, certificateSummary, digestOf } from './certificate.ts'
import { EvidenceSchema, FORM } from './evidence.ts'
import { EMBEDDED, renderPage } from './render/render-page.ts'

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

/** What is known of a certificate: as it was made, changed, or written in the words of another version. */
export interface Verification {
  state: 'intact' | 'changed' | 'not_compared'
  /** One line, without the file's name. */
  sentence: string
}

const RENDERERS: Record<CertificateFile['form'], (certificate: Certificate) => string> = {
  html: renderPage,
  json: renderJson,
}

/**
 * Computes the digest again, and makes the file again: both must be the same. Another version's words cannot be made here: who edited
 * them may have computed the digest anew, so such a file is never called intact.
 */
export function verifyCertificate({ text, form, certificate }: CertificateFile): Verification {
  const { digest, evidence } = certificate
  const computed = digestOf(evidence)
  if (computed !== digest) {
    return { state: 'changed', sentence: `changed: its evidence has the digest ${computed}, and it names ${digest}` }
  }
  if (evidence.version !== version) {
    const what = `only the digest ${digest} fits its evidence, which says that version ${JSON.stringify(evidence.version)} wrote it`
    const how = `the words could not be compared, since this is ${version}: verify it with that version`
    return { state: 'not_compared', sentence: `not compared: ${what}; ${how}` }
  }
  if (RENDERERS[form](certificate) !== text) {
    const sentence = `changed: its evidence is as it was made, but its words are not (digest ${digest})`
    return { state: 'changed', sentence }
  }
  const { subject, seed } = evidence
  const { proved, contradicted, unproved } = certificateSummary(evidence)
  const of = subject === null ? 'no subject' : `subject ${JSON.stringify(subject)}`
  const counts = `${plural(proved, 'rule')} kept, ${contradicted} broken, ${unproved} not tested`
  return { state: 'intact', sentence: `intact: digest ${digest}, seed ${seed}, ${of}, ${counts}` }
}

/** The page and the JSON beside it. */
export interface CertificatePaths {
  html: string
  json: string
}

/** Where the page goes, and the JSON of the same name. Throws OptionError when the path is not that of a page. */
export function certificateFiles(path: string): CertificatePaths {
  if (/[^/\\]\.html?$/i.test(path)) return { html: path, json: path.replace(/\.html?$/i, '.json') }
  throw new OptionError(`--output "${shorten(path)}" must end in .html; the JSON gets the same name with .json`)
}

/** Writes both. Throws OptionError naming the one that cannot be written. */
export async function writeCertificate({ html, json }: CertificatePaths, certificate: Certificate): Promise<void> {
  await writing(html, () => writeOwn(html, renderPage(certificate)), '--output')
  await writing(json, () => writeOwn(json, renderJson(certificate)), '--output')
}

/** A certificate as JSON: what it comes to, the digest, the evidence. */
export function renderJson({ digest, evidence }: Certificate): string {
  return `${visibleText(JSON.stringify({ ...certificateSummary(evidence), digest, evidence }, null, 2))}\n`
}
