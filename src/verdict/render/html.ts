import type { Report } from '../report.ts'
import { byOutcome } from './by-outcome.ts'
import { coverage } from './html/coverage.ts'
import { contradicted, notExercised, open, proved, setUp } from './html/findings.ts'
import { brand, head, overview } from './html/head.ts'
import { html, type Markup, raw } from './html/markup.ts'
import { SEQUENCE_STYLE } from './html/sequence-style.ts'
import { STYLE } from './html/style.ts'

/** Nothing is loaded and nothing runs, whatever a client sent. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/** One page that needs nothing but itself: no network, no script. */
export function renderHtml(reports: readonly Report[]): string {
  const [only, ...others] = reports
  const single = others.length === 0 ? only : undefined
  const title = single ? single.summary : 'yield-sandbox report'
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta http-equiv="Content-Security-Policy" content="${raw(POLICY)}"><meta name="referrer" content="no-referrer"><title>${title}</title><style>${raw(minified(STYLE + SEQUENCE_STYLE))}</style></head>
<body><header>${brand(reports)}${single ? head(single, 'h1') : overview(reports)}</header>
<main>${single ? body(single) : reports.map((report, i) => html`<div class="run" id="run-${i}"><p class="id">${report.scenario ?? 'no scenario'} · seed ${report.seed}</p>${head(report, 'h2')}${body(report)}</div>`)}</main>
<footer>Made by yield-sandbox ${only?.version}. Proved: the situation arose, and the client did right. Contradicted: the exchanges show that it did wrong. Unproved: the situation never arose, or traffic alone cannot tell.</footer></body></html>
`
  return page.text
}

function body(report: Report): Markup {
  const { failed, needs_review, errored, passed, not_exercised } = byOutcome(report)
  return html`${[
    setUp(report.configuration),
    contradicted(report, failed),
    open('Needs review', needs_review),
    open('Errored', errored),
    proved(passed),
    notExercised(not_exercised),
    coverage(report),
  ]}`
}

function minified(css: string): string {
  return css.replace(/\n/g, '')
}
