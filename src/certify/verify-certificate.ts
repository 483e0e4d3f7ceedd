import { plural } from '../verdict/evidence/words.ts'
import { version } from '../version.ts'
import { type Certificate, digestOf, summaryOf } from './certificate.ts'
import type { CertificateFile } from './read-certificate.ts'
import { renderJson } from './render/render-json.ts'
import { renderPage } from './render/render-page.ts'

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
  const { proved, contradicted, unproved } = summaryOf(evidence)
  const of = subject === null ? 'no subject' : `subject ${JSON.stringify(subject)}`
  const counts = `${plural(proved, 'rule')} kept, ${contradicted} broken, ${unproved} not tested`
  return { state: 'intact', sentence: `intact: digest ${digest}, seed ${seed}, ${of}, ${counts}` }
}
