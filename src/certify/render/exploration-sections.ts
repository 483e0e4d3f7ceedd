import { OUTCOME_IMPACT } from '../../explore/exploration.ts'
import type { Tried } from '../../explore/matrix.ts'
import { matrixSection } from '../../explore/render/html-sections.ts'
import { OUTCOMES } from '../../explore/render/outcomes.ts'
import { FINDINGS } from '../../verdict/findings/index.ts'
import { html, type Markup } from '../../verdict/render/html/markup.ts'
import type { BadCell, Evidence } from '../evidence.ts'

/** Where money went astray or the command hung; then every fault at every operation. */
export function explorationSections({ exploration: { trials, bad_cells } }: Evidence): Markup {
  const results = trials.map(({ operation, hazard, outcome }): Tried => {
    return { trial: { harms: [{ position: { operation }, hazard: { id: hazard } }] }, outcome }
  })
  return html`${bad_cells.length > 0 && html`<section><h2>Money <small>${bad_cells.length}</small></h2>${bad_cells.map(article)}</section>`}
${matrixSection({ results, untried: null })}`
}

function article({ outcome, trial, count, sentences, findings, repeat }: BadCell): Markup {
  const { sign, name, meaning } = OUTCOMES[outcome]
  const said = sentences.length > 0 ? sentences : [meaning]
  const why = findings.flatMap((id) => FINDINGS.filter((finding) => finding.id === id))
  return html`<article class="${outcome}"><h3>${trial}</h3><p><span class="tag">${OUTCOME_IMPACT[outcome]}</span><span class="tag">${sign} ${name}</span></p>
${said.map((sentence) => html`<p>${sentence}</p>`)}
${count > 1 && html`<p class="id">${count} runs with this fault at this operation went wrong.</p>`}
<dl class="facts">${why.map(({ id, failureTitle }) => html`<div><dt>Why</dt><dd>${failureTitle} <span class="id">${id}</span></dd></div>`)}
<div><dt>See it again</dt><dd><pre tabindex="0"><code>${repeat}</code></pre></dd></div></dl></article>`
}
