import { visibleText } from '../../support/visible-text.ts'
import { type Certificate, summaryOf } from '../certificate.ts'

/** A certificate as JSON: what it comes to, the digest, the evidence. */
export function renderJson({ digest, evidence }: Certificate): string {
  return `${visibleText(JSON.stringify({ ...summaryOf(evidence), digest, evidence }, null, 2))}\n`
}
