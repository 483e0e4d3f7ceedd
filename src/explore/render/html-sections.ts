import { html, type Markup } from '../../verdict/render/html/markup.ts'
import type { Exploration, TrialResult } from '../exploration.ts'
import { isBad } from '../judge/judge-trial.ts'
import { type Cell, countIn, type MatrixSource, matrixOf } from '../matrix.ts'
import { alikeInWords, explanationsOf, type Incident, incidentsOf } from './incidents.ts'
import { isAside, legendOf, OUTCOMES, signOf } from './outcomes.ts'
import { leftOpen } from './sentence.ts'

/** What can go wrong, by where; words for those who see no colours. */
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

/** What went wrong, the worst first; then what has to be known besides. */
export function incidentSections(exploration: Exploration): Markup {
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

/** Each of the others, with the command that does it again. */
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
