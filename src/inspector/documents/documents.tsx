import type { JSX } from 'preact'
import { renderToString } from 'preact-render-to-string'
import type { CertificateDocument } from '../../certify/certificate-document.ts'
import type { MergedReport, Report } from '../../control/contract.ts'
import type { ExplorationDocument } from '../../explore/exploration-document.ts'
import { CertificatePaper } from './certificate-paper.tsx'
import { ExplorationPaper } from './exploration-paper.tsx'
import { ReportPaper } from './report-paper.tsx'

/** The style sheets of a page, put here by the build. */
declare const DOCUMENT_STYLE: string

/** Forbids the page to load or run anything, whatever a client sent. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

const PAPERS: Record<string, (shown: never) => JSX.Element> = {
  report: (shown: Report | MergedReport) => <ReportPaper report={shown} />,
  exploration: (shown: ExplorationDocument) => <ExplorationPaper exploration={shown} />,
  certificate: (shown: CertificateDocument) => <CertificatePaper certificate={shown} />,
}

/** Renders a self-contained page that shows `shown` and holds `data`, which is JSON that is safe in a script element. */
export function documentPage(kind: string, shown: { summary: string }, data: string): string {
  const paper = PAPERS[kind]
  if (!paper) throw new Error(`there is no page of the kind ${kind}`)
  const head = renderToString(
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta http-equiv="Content-Security-Policy" content={POLICY} />
      <meta name="referrer" content="no-referrer" />
      <title>{shown.summary}</title>
      <style dangerouslySetInnerHTML={{ __html: DOCUMENT_STYLE }} />
    </head>,
  )
  const body = renderToString(paper(shown as never))
  const embedded = `<script type="application/json" id="${kind}">${data}</script>`
  return `<!doctype html>\n<html lang="en">${head}\n<body>${body}${embedded}</body></html>\n`
}
