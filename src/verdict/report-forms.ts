/** The forms of a report: what a browser, a server or a person is told of each. The usual suffix first. */
export const REPORT_FORMS = {
  json: { contentType: 'application/json; charset=utf-8', suffixes: ['.json'] },
  junit: { contentType: 'application/xml; charset=utf-8', suffixes: ['.xml'] },
  sarif: { contentType: 'application/sarif+json; charset=utf-8', suffixes: ['.sarif'] },
  html: { contentType: 'text/html; charset=utf-8', suffixes: ['.html', '.htm'] },
  markdown: { contentType: 'text/markdown; charset=utf-8', suffixes: ['.md', '.markdown'] },
  text: { contentType: 'text/plain; charset=utf-8', suffixes: ['.txt'] },
} as const satisfies Record<string, { contentType: string; suffixes: readonly string[] }>

/** Name of a form. */
export type ReportForm = keyof typeof REPORT_FORMS

/** Names of the forms. */
export const REPORT_FORM_NAMES = Object.keys(REPORT_FORMS) as ReportForm[]

/** The form that a file's suffix stands for; undefined when it stands for none. */
export function formOfFile(path: string): ReportForm | undefined {
  const lower = path.toLowerCase()
  return REPORT_FORM_NAMES.find((name) => REPORT_FORMS[name].suffixes.some((suffix) => lower.endsWith(suffix)))
}
