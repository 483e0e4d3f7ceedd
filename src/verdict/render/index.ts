import type { Report } from '../report.ts'
import { renderHtml } from './html.ts'
import { renderJunit } from './junit.ts'
import { renderMarkdown } from './markdown.ts'
import { renderSarif } from './sarif.ts'
import { renderText } from './text.ts'

/** A form of a report. */
export interface Form {
  contentType: string
  /** Of the files that hold it, the usual one first. */
  suffixes: readonly [string, ...string[]]
  render(reports: readonly Report[]): string
}

/** Every form by its name. */
export const FORMS = {
  json: { contentType: 'application/json; charset=utf-8', suffixes: ['.json'], render: renderJson },
  junit: { contentType: 'application/xml; charset=utf-8', suffixes: ['.xml'], render: renderJunit },
  sarif: { contentType: 'application/sarif+json; charset=utf-8', suffixes: ['.sarif'], render: renderSarif },
  html: { contentType: 'text/html; charset=utf-8', suffixes: ['.html', '.htm'], render: renderHtml },
  markdown: { contentType: 'text/markdown; charset=utf-8', suffixes: ['.md', '.markdown'], render: renderMarkdown },
  text: { contentType: 'text/plain; charset=utf-8', suffixes: ['.txt'], render: (reports) => renderText(reports) },
} as const satisfies Record<string, Form>

/** Name of a form. */
export type FormName = keyof typeof FORMS

/** Names of the forms. */
export const FORM_NAMES = Object.keys(FORMS) as FormName[]

/** The form that a file's suffix stands for; undefined when there is none. */
export function formOfFile(path: string): FormName | undefined {
  const lower = path.toLowerCase()
  return FORM_NAMES.find((name) => FORMS[name].suffixes.some((suffix) => lower.endsWith(suffix)))
}

function renderJson(reports: readonly Report[]): string {
  return `${JSON.stringify(reports.length === 1 ? reports[0] : reports, null, 2)}\n`
}
