import type { Verdict } from '../../report.ts'
import { html, type Markup } from './markup.ts'

/** The head of a page. */
export interface VerdictHead {
  verdict: Verdict
  /** Begins with the verdict, as every summary does: `Passed: …`. */
  summary: string
  /** What went well, what went wrong and what is open: how much of it, and in which words. */
  numbers: readonly [well: Count, wrong: Count, open: Count]
}
type Count = readonly [count: number, name: string]

const TONES = ['passed', 'failed', 'not_exercised']

/** The verdict in one sentence, and three numbers. The sentence is without the word that the badge above it says. */
export function verdictHead({ verdict, summary, numbers }: VerdictHead, level: 'h1' | 'h2' = 'h1'): Markup {
  const said = summary.replace(/^(passed|failed|inconclusive)[^:]*: /i, '')
  const sentence = said.charAt(0).toUpperCase() + said.slice(1)
  return html`<p class="verdict ${verdict}">${verdict}</p>
${level === 'h1' ? html`<h1>${sentence}</h1>` : html`<h2>${sentence}</h2>`}
<dl class="numbers">${numbers.map(([count, name], i) => html`<div class="${TONES[i]}"><dt>${name}</dt><dd>${count}</dd></div>`)}</dl>`
}

/** How many rules were kept, broken and not tested. */
export function findingNumbers(of: { proved: number; contradicted: number; unproved: number }): VerdictHead['numbers'] {
  return [
    [of.proved, 'rules kept'],
    [of.contradicted, 'broken'],
    [of.unproved, 'not tested'],
  ]
}
