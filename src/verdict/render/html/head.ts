import { mergedReport } from '../../merged-report.ts'
import type { Report } from '../../report.ts'
import { nameOf } from '../by-outcome.ts'
import { RULE_SIGNS, rulesTable } from '../rules-table.ts'
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
  const sum = mergedReport(reports)
  return html`${verdictHead({ ...sum, numbers: findingNumbers(sum) })}
<h2>Scenarios <small>${reports.length}</small></h2>
<div class="scroll" tabindex="0" role="region" aria-label="Scenarios"><table><thead><tr><th>scenario</th><th>verdict</th><th class="n">kept</th><th class="n">broken</th><th class="n">not tested</th></tr></thead><tbody>${reports.map(row)}</tbody></table></div>
${rules(reports)}`
}

/** Every rule that was tested, by scenario. */
function rules(reports: readonly Report[]): Markup | undefined {
  const rows = rulesTable(reports)
  if (rows.length === 0) return undefined
  const cell = (outcome: (typeof rows)[number]['outcomes'][number]) => {
    if (outcome === undefined) return html`<td></td>`
    const { sign, name } = RULE_SIGNS[outcome]
    return html`<td class="${outcome}" title="${name}" aria-label="${name}"><b>${sign}</b></td>`
  }
  const seen = new Set(rows.flatMap(({ outcomes }) => outcomes))
  const legend = (Object.keys(RULE_SIGNS) as (keyof typeof RULE_SIGNS)[]).filter((outcome) => seen.has(outcome))
  return html`<h2>Rules <small>${rows.length}</small></h2>
<div class="scroll" tabindex="0" role="region" aria-label="Rules by scenario"><table class="rules"><thead><tr><td></td>${reports.map((report, i) => html`<th scope="col"><a href="#run-${i}">${nameOf(report)}</a></th>`)}</tr></thead><tbody>${rows.map(({ id, outcomes }) => html`<tr><th scope="row">${id}</th>${outcomes.map(cell)}</tr>`)}</tbody></table></div>
<p class="id">${legend.map((outcome) => `${RULE_SIGNS[outcome].sign} ${RULE_SIGNS[outcome].name}`).join(', ')}</p>`
}
