import type { Tried } from '../../explore/matrix.ts'
import { HAZARDS } from '../../explore/plan/hazards.ts'
import { matrixSection } from '../../explore/render/html.ts'
import { OUTCOMES, signOf } from '../../explore/render/outcomes.ts'
import { html, type Markup } from '../../render/html-page.ts'
import { grouped } from '../../support/maps.ts'
import { plural } from '../../verdict/evidence/words.ts'
import { FINDINGS } from '../../verdict/findings/index.ts'
import type { CertificateEvidence, CertifiedIncident } from '../evidence.ts'

/** Incidents of runs with a fault, one card for each cause; then a table of every fault at every operation. */
export function explorationSections({ exploration: { trials, incidents } }: CertificateEvidence): Markup {
  const results = trials.map(({ operation, hazard, outcome, level }): Tried => {
    return { trial: { harms: [{ position: { operation }, hazard: { id: hazard } }] }, outcome, level }
  })
  const cards = cardsOf(incidents)
  return html`${cards.length > 0 && html`<section><h2>Money <small>${cards.length}</small></h2>${cards.map(article)}</section>`}
${matrixSection({ results, untried: null })}`
}

function article({ first, others }: Card): Markup {
  const { outcome, level, trial, count, sentences, findings, repeat } = first
  const { name, meaning } = OUTCOMES[outcome]
  const said = sentences.length > 0 ? sentences : [meaning]
  const why = findings.flatMap((id) => FINDINGS.filter((finding) => finding.id === id))
  return html`<article class="${outcome}"><h3>${trial}</h3><p><span class="tag">${level}</span><span class="tag">${signOf(first)} ${name}</span></p>
${said.map((sentence) => html`<p>${sentence}</p>`)}
${count > 1 && html`<p class="id">${count} runs with this fault at this operation went wrong or need review.</p>`}
<dl class="facts">${why.map(({ id, failureTitle }) => html`<div><dt>Why</dt><dd>${failureTitle} <span class="id">${id}</span></dd></div>`)}
${others.length > 0 && alsoAt(others)}
<div><dt>See it again</dt><dd><pre tabindex="0"><code>${repeat}</code></pre></dd></div></dl></article>`
}

/** Other places of the same cause, each with its sentences and the command that repeats it. */
function alsoAt(others: readonly CertifiedIncident[]): Markup {
  const one = ({ trial, sentences, repeat }: CertifiedIncident) =>
    html`<li><span class="id">${trial}</span>${sentences.map((sentence) => html`<p>${sentence}</p>`)}<pre tabindex="0"><code>${repeat}</code></pre></li>`
  return html`<div><dt>Also at</dt><dd>${placesInWords(others)}<details><summary>${plural(others.length, 'command')}</summary><ul>${others.map(one)}</ul></details></dd></div>`
}

/** "deposit (close before broadcast, reverted), withdraw (reverted)" */
export function placesInWords(incidents: readonly Pick<CertifiedIncident, 'operation' | 'hazard'>[]): string {
  const operations = [...new Set(incidents.map(({ operation }) => operation))]
  const titleOf = (id: string) => HAZARDS.find((hazard) => hazard.id === id)?.title ?? id
  const at = (operation: CertifiedIncident['operation']) =>
    incidents.filter((incident) => incident.operation === operation).map(({ hazard }) => titleOf(hazard))
  return operations.map((operation) => `${operation.replaceAll('_', ' ')} (${at(operation).join(', ')})`).join(', ')
}

/** Incidents of one cause: the first, and the others. */
export interface Card {
  first: CertifiedIncident
  others: CertifiedIncident[]
}

/** Groups incidents by cause: same outcome and same findings or, without findings, same sentences. */
export function cardsOf(incidents: readonly CertifiedIncident[]): Card[] {
  return [...grouped(incidents, causeOf).values()].flatMap(([first, ...others]) => (first ? [{ first, others }] : []))
}

function causeOf({ outcome, findings, sentences }: CertifiedIncident): string {
  return JSON.stringify([outcome, findings.length > 0 ? [...findings].sort() : sentences.map(shapeOf)])
}

/** Removes the end user, the amounts and the operation from a sentence: they make no difference to the cause. */
function shapeOf(sentence: string): string {
  return sentence
    .replace(/^.*?(?:: |'s )/s, '')
    .replace(/\b(?:deposit|withdraw|withdrawal|new portfolio)\b/g, 'transfer')
    .replace(/\d[\d.,]*/g, '0')
}
