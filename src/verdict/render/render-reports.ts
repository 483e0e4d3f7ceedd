import { documentPage } from '../../render/document-page.ts'
import { visibleText } from '../../support/foreign-text.ts'
import { mergedReport, type Report, type ReportForm } from '../report.ts'
import { renderJunit } from './junit.ts'
import { renderMarkdown } from './markdown.ts'
import { renderSarif } from './sarif.ts'
import { renderReportText } from './text.ts'

const RENDERERS: Record<ReportForm, (reports: readonly Report[]) => string> = {
  json: (reports) => `${visibleText(JSON.stringify(mergedReport(reports), null, 2))}\n`,
  junit: renderJunit,
  sarif: renderSarif,
  html: (reports) => documentPage('report', mergedReport(reports)),
  markdown: renderMarkdown,
  text: (reports) => renderReportText(reports, { verbose: true }),
}

/** Renders reports in one of their forms; several in one document. */
export function renderReports(form: ReportForm, reports: readonly Report[]): string {
  return RENDERERS[form](reports)
}
