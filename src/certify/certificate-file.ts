import { readFile } from 'node:fs/promises'
import { Value } from '@sinclair/typebox/value'
import { writeOwn, writing } from '../exec/report-files.ts'
import { OptionError } from '../option-error.ts'
import { shellWords, shorten, visibleText } from '../support/foreign-text.ts'
import { canonicalJson, jsonObject } from '../support/json.ts'
import { plural } from '../verdict/evidence/words.ts'
import { version } from '../version.ts'
import { certificateSummary, digestOf } from './certificate.ts'
import type { Certificate } from './certificate-document.ts'
import { type CertificateEvidence, EvidenceSchema, FORM, operationInWords } from './evidence.ts'
import { certificateDocument, renderPage } from './render/document-of.ts'

/** A certificate read from a file. */
export interface CertificateFile {
  path: string
  text: string
  form: 'html' | 'json'
  certificate: Certificate
}

/** Reads the certificate in a page or a JSON file. Throws OptionError when there is none. */
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

/** Rejects evidence of another form and names the version that wrote it. Throws OptionError. */
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
    // Strict decoding: a file with bytes that are not UTF-8 is not a certificate, and lenient decoding might make it look like one.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new OptionError(
      `--verify: ${path} ${code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not a text file' : `cannot be read (${code})`}`,
    )
  }
}

/** Marks before and behind the certificate in a page. */
const EMBEDDED = { begin: '<script type="application/json" id="certificate">', end: '</script>' }

/** The text between the marks. The last mark counts, since the page shows the command, which may contain one, before the data. */
function embeddedIn(page: string): string {
  const begin = page.lastIndexOf(EMBEDDED.begin)
  return page.slice(begin + EMBEDDED.begin.length, page.indexOf(EMBEDDED.end, begin))
}

/** The result of a check: the file is unchanged, changed, or written in the words of another version. */
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
 * Recomputes the digest and renders the file again: both must be the same. This version cannot render another version's words, and
 * the digest may have been recomputed after an edit, so such a file is never called intact.
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

/** Paths of the page and of the JSON beside it. */
export interface CertificatePaths {
  html: string
  json: string
}

/** Paths of a page and of the JSON with the same name. Throws OptionError when the path does not end in .html. */
export function certificateFiles(path: string): CertificatePaths {
  if (/[^/\\]\.html?$/i.test(path)) return { html: path, json: path.replace(/\.html?$/i, '.json') }
  throw new OptionError(`--output "${shorten(path)}" must end in .html; the JSON gets the same name with .json`)
}

/** Writes both files. Throws OptionError naming the one that cannot be written. */
export async function writeCertificate({ html, json }: CertificatePaths, certificate: Certificate): Promise<void> {
  await writing(html, () => writeOwn(html, renderPage(certificate)), '--output')
  await writing(json, () => writeOwn(json, renderJson(certificate)), '--output')
}

/** A certificate as JSON: its summary, its words, the digest, the evidence. */
export function renderJson(certificate: Certificate): string {
  return `${visibleText(JSON.stringify(certificateDocument(certificate), null, 2))}\n`
}

/** Maximum number of differences that are listed. */
const TOLD = 5

/** The result of a comparison. */
export interface CertificateComparison {
  /** True if the results are the same; subject, command and the other circumstances may differ. */
  sameResults: boolean
  /** At least one. */
  sentences: string[]
}

/** Compares the content of two certificates and puts the first differences into words. */
export function compareCertificates(first: Certificate, second: Certificate): CertificateComparison {
  if (first.digest === second.digest) return { sameResults: true, sentences: ['the same digest'] }
  const [one, other] = [first.evidence, second.evidence]
  const circumstances = differences(circumstancesOf(one), circumstancesOf(other))
  const results = differences(resultsOf(one), resultsOf(other))
  const more = results.length - TOLD
  return {
    sameResults: results.length === 0,
    sentences: [
      results.length === 0 ? 'the same results, but another digest' : 'not the same results',
      ...circumstances,
      ...results.slice(0, TOLD),
      ...(more > 0 ? [`and ${more} more`] : []),
    ],
  }
}

type Entries = ReadonlyMap<string, string>

function circumstancesOf({
  version,
  specification,
  subject,
  command,
  flags,
  fixtures,
  seed,
  clock,
}: CertificateEvidence): Entries {
  return new Map(
    Object.entries({
      version,
      specification,
      subject: subject ?? 'none',
      command: shellWords(command),
      flags: shellWords(flags) || 'none',
      fixtures: fixtures ?? "the sandbox's own",
      seed: String(seed),
      clock,
    }),
  )
}

function resultsOf({
  scenarios,
  findings,
  exploration: { trials, incidents, repeatable, not_restartable },
}: CertificateEvidence): Entries {
  return new Map([
    ...findings.map((finding): [string, string] => [`finding ${finding.id}`, findingInWords(finding)]),
    ...scenarios.map(({ name, verdict, end, operations }): [string, string] => [
      `scenario ${name}`,
      [verdict, `end ${end}`, ...operations.map(operationInWords)].join(', '),
    ]),
    ['repeatable', String(repeatable)],
    ...(not_restartable === undefined ? [] : [['killed and started again', not_restartable ?? 'yes'] as const]),
    ...trials.map(({ id, outcome }): [string, string] => [`run ${id}`, outcome]),
    // The command line that repeats the run is not a result.
    ...incidents.map(({ repeat: _, ...cell }): [string, string] => [
      `what happened at ${cell.operation} ${cell.hazard}`,
      [...cell.sentences, canonicalJson(cell.findings)].join('; '),
    ]),
  ])
}

function findingInWords({
  outcome,
  contradicted_in,
  proved_in,
  review_in,
}: CertificateEvidence['findings'][number]): string {
  const shown = (how: string, names: readonly string[]) => (names.length > 0 ? [`${how} ${names.join(', ')}`] : [])
  return [
    ...[outcome, ...shown('contradicted by', contradicted_in), ...shown('proved by', proved_in)],
    ...shown('to be looked at in', review_in),
  ].join('; ')
}

function differences(first: Entries, second: Entries): string[] {
  return [...new Set([...first.keys(), ...second.keys()])].flatMap((name) => {
    const [was = 'not there', is = 'not there'] = [first.get(name), second.get(name)]
    return was === is ? [] : [`${name}: ${was} in the first, ${is} in the second`]
  })
}
