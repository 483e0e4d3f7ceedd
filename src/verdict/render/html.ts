import type { Report } from '../report.ts'
import { byOutcome } from './by-outcome.ts'
import { coverage } from './html/coverage.ts'
import { broken, kept, notTested, open, setUp } from './html/findings.ts'
import { brand, head, overview } from './html/head.ts'
import { html, type Markup } from './html/markup.ts'
import { operations } from './html/operations.ts'
import { page } from './html/page.ts'
import { SEQUENCE_STYLE } from './html/sequence-style.ts'
import { STYLE } from './html/style.ts'

/** One page that needs nothing but itself: no network, no script. */
export function renderHtml(reports: readonly Report[]): string {
  const [only, ...others] = reports
  const single = others.length === 0 ? only : undefined
  const run = (report: Report, i: number) =>
    html`<div class="run" id="run-${i}"><p class="id">${report.scenario ?? 'no scenario'} · seed ${report.seed}</p>${head(report, 'h2')}${body(report)}</div>`
  return page({
    title: single ? single.summary : 'yield-sandbox report',
    style: STYLE + SEQUENCE_STYLE,
    header: html`${brand(reports)}${single ? head(single, 'h1') : overview(reports)}`,
    main: single ? body(single) : html`${reports.map(run)}`,
    footer: html`Made by yield-sandbox ${only?.version}. Kept: the situation arose, and the client did right. Broken: the exchanges show that it did wrong. Not tested: the situation never arose, or traffic alone cannot tell.`,
  })
}

function body(report: Report): Markup {
  const { failed, needs_review, errored, passed, not_exercised } = byOutcome(report)
  return html`${[
    operations(report),
    setUp(report.configuration),
    broken(report, failed),
    open('Needs review', needs_review),
    open('Errored', errored),
    kept(passed),
    notTested(not_exercised),
    coverage(report),
  ]}`
}
