import { version } from '../version.ts'
import { type Certificate, digestOf, summaryOf } from './certificate.ts'
import type { CertificateFile } from './read-certificate.ts'
import { renderJson } from './render/render-json.ts'
import { renderPage } from './render/render-page.ts'

/** Whether a certificate is as it was made. */
export interface Verification {
  intact: boolean
  /** One line, without the file's name. */
  sentence: string
}

const RENDERERS: Record<CertificateFile['form'], (certificate: Certificate) => string> = {
  html: renderPage,
  json: renderJson,
}

/**
 * Computes the digest again, and makes the file again: both must be the same. What another version made is not made again, since
 * its words may be others.
 */
export function verifyCertificate({ text, form, certificate }: CertificateFile): Verification {
  const { digest, evidence } = certificate
  const computed = digestOf(evidence)
  if (computed !== digest) {
    return { intact: false, sentence: `changed: its evidence has the digest ${computed}, and it names ${digest}` }
  }
  const same = evidence.version === version
  if (same && RENDERERS[form](certificate) !== text) {
    return {
      intact: false,
      sentence: `changed: its evidence is as it was made, but its words are not (digest ${digest})`,
    }
  }
  const { subject, seed } = evidence
  const { proved, contradicted, unproved } = summaryOf(evidence)
  const of = subject === null ? 'no subject' : `subject ${JSON.stringify(subject)}`
  const only = same
    ? ''
    : `; made by version ${JSON.stringify(evidence.version)}: only the digest was checked, not the words (this is ${version})`
  const counts = `${proved} proved, ${contradicted} contradicted, ${unproved} unproved`
  return { intact: true, sentence: `intact: digest ${digest}, seed ${seed}, ${of}, ${counts}${only}` }
}
