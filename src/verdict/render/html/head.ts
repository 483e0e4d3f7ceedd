import type { Report } from '../../report.ts'
import { nameOf } from '../by-outcome.ts'
import { html, type Markup } from './markup.ts'
import { findingNumbers, verdictHead } from './verdict-head.ts'

/** The verdict in one sentence, and the three numbers. */
export function head(report: Report, level: 'h1' | 'h2'): Markup {
  const { unmet } = report
  return html`${verdictHead({ ...report, numbers: findingNumbers(report) }, level)}
${unmet.length > 1 && html`<ul class="unmet">${unmet.map((reason) => html`<li>${reason}</li>`)}</ul>`}`
}

/** What it is a report of. */
export function brand(reports: readonly Report[]): Markup {
  const [first] = reports
  const day = first?.created_at.slice(0, 16).replace('T', ' ')
  const what = reports.length === 1 && first ? `${nameOf(first)} · seed ${first.seed}` : `${reports.length} scenarios`
  return html`<div class="brand"><span><b>yield-sandbox</b> · ${what}</span>${first && html`<time datetime="${first.created_at}">${day} UTC</time>`}</div>`
}

/** Several runs at one look. */
export function overview(reports: readonly Report[]): Markup {
  const row = (report: Report, i: number) =>
    html`<tr><td><a href="#run-${i}">${nameOf(report)}</a></td><td class="${report.verdict}"><b>${report.verdict}</b></td><td class="n">${report.proved}</td><td class="n">${report.contradicted}</td><td class="n">${report.unproved}</td></tr>`
  return html`<h1>${sentence(reports)}</h1><div class="scroll" tabindex="0"><table><thead><tr><th>scenario</th><th>verdict</th><th class="n">proved</th><th class="n">contra­dicted</th><th class="n">unproved</th></tr></thead><tbody>${reports.map(row)}</tbody></table></div>`
}

function sentence(reports: readonly Report[]): string {
  const count = (wanted: Report['verdict']) => reports.filter(({ verdict }) => verdict === wanted).length
  const all = (['failed', 'inconclusive', 'passed'] as const).flatMap((verdict) => {
    const found = count(verdict)
    return found > 0 ? [`${found} ${verdict}`] : []
  })
  return `${reports.length} scenarios: ${all.join(', ')}`
}
