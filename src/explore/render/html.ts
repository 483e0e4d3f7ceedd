import { html, type Markup, page, STYLE, type VerdictHead, verdictHead } from '../../render/html-page.ts'
import { shellWords } from '../../support/foreign-text.ts'
import type { Exploration, TrialResult } from '../exploration.ts'
import { isBad } from '../judge/judge-trial.ts'
import { type Cell, countIn, type MatrixSource, matrixOf } from '../matrix.ts'
import { explorationSummary } from '../summary.ts'
import { alikeInWords, explanationsOf, type Incident, incidentsOf } from './incidents.ts'
import { isAside, legendOf, OUTCOMES, signOf } from './outcomes.ts'
import { leftOpen, pace, tally, verdictSentence } from './sentence.ts'

/** Renders a self-contained page: no network, no script. */
export function renderHtml(exploration: Exploration): string {
  return page({
    title: verdictSentence(exploration),
    style: STYLE + MATRIX_STYLE,
    header: head(exploration),
    main: html`${matrixSection(exploration)}${incidentSections(exploration)}`,
    footer: html`Made by yield-sandbox ${exploration.version}. The command ran once for every place where something can go wrong; what counts is where the money ended up.`,
  })
}

function head(exploration: Exploration): Markup {
  const { verdict, counts } = explorationSummary(exploration)
  const { created_at, seed, command } = exploration
  const bad = exploration.results.filter(({ level }) => isBad(level)).length
  const well =
    exploration.results.filter((result) => !isBad(result.level)).length - counts.not_exercised - counts.errored
  const open = counts.not_exercised + counts.errored + (exploration.untried?.trials.length ?? 0)
  const numbers: VerdictHead['numbers'] = [
    [well, 'came out well'],
    [bad, 'went wrong'],
    [open, 'not tried or never struck'],
  ]
  const day = created_at.slice(0, 16).replace('T', ' ')
  return html`<div class="brand"><span><b>yield-sandbox explore</b> · ${shellWords(command)} · seed ${seed}</span><time datetime="${created_at}">${day} UTC</time></div>
${verdictHead({ verdict, summary: verdictSentence(exploration), numbers })}
<p class="id">${tally(exploration)}. ${pace(exploration)}.</p>`
}

/** The matrix of hazards by place; each cell has a text for people who cannot see colours. */
export function matrixSection(exploration: MatrixSource): Markup | undefined {
  const matrix = matrixOf(exploration)
  const { operations, rows } = matrix
  if (rows.length === 0) return undefined
  const legend = legendOf(matrix).map(
    ({ outcome, sign, name, meaning }) => html`<li class="${outcome}"><b>${sign} ${name}</b>: ${meaning}</li>`,
  )
  const head = operations.map((operation) => html`<th scope="col">${operation.replaceAll('_', ' ')}</th>`)
  const row = ({ title, cells }: (typeof rows)[number]) =>
    html`<tr><th scope="row">${title}</th>${cells.map(cellOf)}</tr>`
  return html`<section><h2>Every fault at every place</h2><div class="scroll" tabindex="0" role="region" aria-label="Every fault at every place"><table class="matrix"><thead><tr><td></td>${head}</tr></thead><tbody>${rows.map(row)}</tbody></table></div><ul class="legend">${legend}</ul></section>`
}

/** Incidents, the worst first; then results and remarks that people should know. */
function incidentSections(exploration: Exploration): Markup {
  const wrong = incidentsOf(exploration, ({ level }) => isBad(level))
  const aside = incidentsOf(exploration, isAside)
  const notes = leftOpen(exploration)
  return html`${wrong.length > 0 && html`<section><h2>Went wrong <small>${wrong.length}</small></h2>${wrong.map(article)}</section>`}
${aside.length > 0 && html`<section><h2>To be known <small>${aside.length}</small></h2><ul class="list">${aside.map(item)}</ul></section>`}
${notes.length > 0 && html`<section><h2>Left open</h2><ul class="list">${notes.map((note) => html`<li>${note}</li>`)}</ul></section>`}`
}

function cellOf(cell: Cell | undefined): Markup {
  if (!cell) return html`<td></td>`
  const { outcome, trials } = cell
  const { name } = OUTCOMES[outcome]
  const count = countIn(cell)
  const words = count === '' ? name : `${name}: ${count.includes('/') ? count.replace('/', ' of ') : `all ${trials}`}`
  return html`<td class="cell ${outcome}" title="${words}" aria-label="${words}">${signOf(cell)}${count !== '' && ` ${count}`}</td>`
}

function article(incident: Incident): Markup {
  const { outcome, first, others } = incident
  const also = alikeInWords(incident)
  const why = explanationsOf(incident).map(
    ({ id, title, explanation, fix }) =>
      html`<div><dt>Why</dt><dd>${title} <span class="id">${id}</span><p>${explanation}</p></dd></div><div><dt>Fix</dt><dd>${fix}</dd></div>`,
  )
  return html`<article class="${outcome}"><h3>${first.trial.id}</h3><p><span class="tag">${first.level}</span><span class="tag">${signOf(first)} ${OUTCOMES[outcome].name}</span></p>
${first.sentences.map((sentence) => html`<p>${sentence}</p>`)}
<dl class="facts">${why}${also !== undefined && html`<div><dt>Also</dt><dd>${also}${eachOf(others)}</dd></div>`}<div><dt>See it again</dt><dd><pre tabindex="0"><code>${first.repeat}</code></pre></dd></div></dl></article>`
}

/** The other trials of an incident, each with the command that repeats it. */
function eachOf(others: readonly TrialResult[]): Markup {
  const one = ({ trial, repeat }: TrialResult) =>
    html`<li><span class="id">${trial.id}</span><pre tabindex="0"><code>${repeat}</code></pre></li>`
  return html`<details><summary>${others.length === 1 ? 'its command' : `their ${others.length} commands`}</summary><ul>${others.map(one)}</ul></details>`
}

function item(incident: Incident): Markup {
  const { outcome, first } = incident
  const also = alikeInWords(incident)
  return html`<li class="${outcome}"><span class="tag">${signOf(first)} ${OUTCOMES[outcome].name}</span> ${first.trial.id}<p>${first.sentences.join('; ')}</p>${also !== undefined && html`<p>Also ${also}.</p>`}</li>`
}

/** CSS of the matrix, and of the outcomes. */
export const MATRIX_STYLE = `
.paid_twice,.took_out_unpaid,.untold,.hung,.paid_twice_put_right,.made_twice{--tone:var(--fail)}.left_open,.perhaps_told,.lucky,.not_asked_for,.another_amount,.gave_up,.gave_up_looked,.stopped,.taken_back{--tone:var(--review)}.survived{--tone:var(--pass)}
.matrix th:first-child{position:sticky;left:0;background:var(--paper);white-space:nowrap}
.matrix thead td{border-top:0}.matrix td{text-align:center;white-space:nowrap;color:var(--tone);font-weight:600}
.matrix th{vertical-align:bottom;overflow-wrap:normal}.matrix thead th:not(:first-child){text-align:center}
.paid_twice.cell,.untold.cell,.hung.cell,.took_out_unpaid.cell,.made_twice.cell{background:var(--card);outline:1px solid var(--tone);outline-offset:-2px}
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1.2rem;margin:.8rem 0 0;font-size:.875rem}.legend b{color:var(--tone)}
@media (max-width:40rem){.matrix{font-size:.8rem}.matrix th,.matrix td{padding:.3rem}
.matrix th:first-child{white-space:normal;min-width:7.5rem}
.matrix thead th:not(:first-child){writing-mode:vertical-rl;text-align:right}}
`
