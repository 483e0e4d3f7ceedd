import type { CertificateDocument } from '../../certify/certificate-document.ts'
import { CertificateChapters, CertificateHead } from '../views/certificate-chapters.tsx'
import { Paper } from './paper.tsx'

/** A certificate. */
export function CertificatePaper({ certificate }: { certificate: CertificateDocument }) {
  const { summary, evidence } = certificate
  return (
    <Paper
      subject={`certificate${evidence.subject === null ? '' : ` of ${evidence.subject}`}`}
      summary={summary}
      head={<CertificateHead certificate={certificate} />}
      foot={
        <>
          <p>
            Made by yield-sandbox {evidence.version}. Kept: the situation arose in one of the scenarios, and the client
            did right. Broken: the exchanges show that it did wrong. Not tested: the situation never arose, or traffic
            alone cannot show it. Inconclusive: the scenario came to no verdict, since something that it is there for
            did not come about, such as a withdrawal, or needs review.
          </p>
          <p>
            <code>yield-sandbox certify --verify</code> with this file says whether it is as it was made. The digest
            does not say who made it.
          </p>
        </>
      }
    >
      <CertificateChapters certificate={certificate} />
    </Paper>
  )
}
