import type { Covered, Report } from '../../report.ts'
import { fold } from './fold.ts'
import { html, type Markup } from './markup.ts'

/** Which operations, error codes and faults the client met. */
export function coverage({ coverage: { operations, errors, faults } }: Report): Markup {
  const all = html`${chips('Operations', operations)}${chips('Error codes', errors)}${chips('Faults', faults)}`
  return fold('Coverage', undefined, all)
}

function chips(title: string, covered: readonly Covered[]): Markup {
  const seen = covered.filter(({ exercised }) => exercised)
  const chip = ({ id, exercised, count }: Covered) =>
    exercised ? html`<li class="on">${id} ×${count}</li>` : html`<li>${id}</li>`
  return html`<h3>${title} <small class="id">${seen.length} of ${covered.length}</small></h3><ul class="chips">${covered.map(chip)}</ul>`
}
