import type { OperationOutcome } from '../../../oracle/outcome.ts'
import { OUTCOMES } from '../../../oracle/outcome.ts'
import type { Report } from '../../report.ts'
import { exchangesOf } from '../exchanges-of.ts'
import { LEVEL_SIGNS, operationsOf } from '../operations-of.ts'
import { html, type Markup } from './markup.ts'
import { sequence } from './sequence.ts'

/** Most operations that are shown with their requests. */
const SHOWN = 20

/** What became of the operations: what matters in full, the worst first; what is well counted. */
export function operations(report: Report): Markup | undefined {
  const { grave, mild, rest } = operationsOf(report)
  if (grave.length + mild.length === 0 && rest === '') return undefined
  const left = grave.length - SHOWN
  return html`<section><h2>What became of the money</h2>${grave.slice(0, SHOWN).map((operation) => article(report, operation))}
${left > 0 && html`<p class="id">and ${left} more of these</p>`}
${mild.length > 0 && html`<ul class="list">${mild.map(item)}</ul>`}
${rest !== '' && html`<p class="passed rest">${rest}.</p>`}</section>`
}

function article(report: Report, { outcome, level, sentence, request_ids }: OperationOutcome): Markup {
  const exchanges = sequence(exchangesOf(report, request_ids))
  return html`<article class="${level}"><h3>${sentence}</h3><p><span class="tag">${level}</span><span class="id">${OUTCOMES[outcome].title}</span></p>
${exchanges && html`<details><summary>the requests that show it</summary>${exchanges}</details>`}</article>`
}

function item({ outcome, level, sentence }: OperationOutcome): Markup {
  return html`<li class="${level}"><span class="tag">${LEVEL_SIGNS[level]} ${OUTCOMES[outcome].title}</span> ${sentence}</li>`
}
