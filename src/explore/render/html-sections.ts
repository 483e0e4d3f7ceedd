import { html, type Markup } from '../../verdict/render/html/markup.ts'
import { type Exploration, TRIAL_OUTCOMES } from '../exploration.ts'
import { type Cell, matrixOf } from '../matrix.ts'
import { type Incident, incidentsOf } from './incidents.ts'
import { OUTCOMES, SHOWN_IN_FULL } from './outcomes.ts'

/** What can go wrong, by where; words for those who see no colours. */
export function matrixSection(exploration: Pick<Exploration, 'results'>): Markup | undefined {
  const { operations, rows } = matrixOf(exploration)
  if (rows.length === 0) return undefined
  const seen = new Set(exploration.results.map(({ outcome }) => outcome))
  const legend = TRIAL_OUTCOMES.filter((outcome) => seen.has(outcome)).map((outcome) => {
    const { sign, name, meaning } = OUTCOMES[outcome]
    return html`<li class="${outcome}"><b>${sign} ${name}</b>: ${meaning}</li>`
  })
  const head = operations.map((operation) => html`<th scope="col">${operation.replaceAll('_', ' ')}</th>`)
  const row = ({ title, cells }: (typeof rows)[number]) =>
    html`<tr><th scope="row">${title}</th>${cells.map(cellOf)}</tr>`
  return html`<section><h2>Every fault at every place</h2><div class="scroll" tabindex="0"><table class="matrix"><thead><tr><th></th>${head}</tr></thead><tbody>${rows.map(row)}</tbody></table></div><ul class="legend">${legend}</ul></section>`
}

/** What went wrong, the worst first; then what has to be known besides. */
export function incidentSections(exploration: Exploration): Markup {
  const { untried, baseline } = exploration
  const wrong = incidentsOf(exploration, SHOWN_IN_FULL)
  const aside = incidentsOf(exploration, ['gave_up_safely', 'errored', 'not_exercised'])
  const notes = [
    ...(baseline.difference === null
      ? []
      : [`Runs without faults differ, which was tolerated: ${baseline.difference}.`]),
    ...(untried === null ? [] : [`Not tried: ${untried.ids.length} more (${untried.reason}).`]),
  ]
  return html`${wrong.length > 0 && html`<section><h2>Went wrong <small>${wrong.length}</small></h2>${wrong.map(article)}</section>`}
${aside.length > 0 && html`<section><h2>To be known <small>${aside.length}</small></h2><ul class="list">${aside.map(item)}</ul></section>`}
${notes.length > 0 && html`<section><h2>Left open</h2><ul class="list">${notes.map((note) => html`<li>${note}</li>`)}</ul></section>`}`
}

function cellOf(cell: Cell | undefined): Markup {
  if (!cell) return html`<td></td>`
  const { outcome, results } = cell
  const { sign, name } = OUTCOMES[outcome]
  const same = results.filter((result) => result.outcome === outcome).length
  const words = `${name}: ${same} of ${results.length}`
  return html`<td class="cell ${outcome}" title="${words}" aria-label="${words}">${sign}${results.length > 1 && ` ${same}`}</td>`
}

function article({ outcome, first, others }: Incident): Markup {
  const { sign, name } = OUTCOMES[outcome]
  const why = first.findings.map(
    ({ id, title, explanation }) =>
      html`<div><dt>Why</dt><dd>${title} <span class="id">${id}</span><p>${explanation}</p></dd></div>`,
  )
  return html`<article class="${outcome}"><h3>${first.trial.id}</h3><p><span class="tag">${sign} ${name}</span></p>
${first.sentences.map((sentence) => html`<p>${sentence}</p>`)}
<dl class="facts">${why}${others.length > 0 && html`<div><dt>Also</dt><dd>${others.join(', ')}</dd></div>`}<div><dt>See it again</dt><dd><pre tabindex="0"><code>${first.repeat}</code></pre></dd></div></dl></article>`
}

function item({ outcome, first, others }: Incident): Markup {
  const { sign, name } = OUTCOMES[outcome]
  const alike = others.length > 0 ? ` and ${others.length} alike` : ''
  return html`<li class="${outcome}"><span class="tag">${sign} ${name}</span> ${first.trial.id}${alike}<p>${first.sentences.join('; ')}</p></li>`
}
