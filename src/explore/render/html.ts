import { shellWords } from '../../support/shell-words.ts'
import { html, type Markup } from '../../verdict/render/html/markup.ts'
import { page } from '../../verdict/render/html/page.ts'
import { STYLE } from '../../verdict/render/html/style.ts'
import type { Exploration } from '../exploration.ts'
import { summaryOf } from '../summary.ts'
import { incidentSections, matrixSection } from './html-sections.ts'
import { MATRIX_STYLE } from './matrix-style.ts'
import { pace, tally, verdictSentence } from './sentence.ts'

/** One page that needs nothing but itself: no network, no script. */
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
  const { verdict, counts } = summaryOf(exploration)
  const { created_at, seed, command } = exploration
  const bad = counts.silently_wrong + counts.noticed_too_late + counts.hung
  const open = counts.not_exercised + counts.errored + (exploration.untried?.trials.length ?? 0)
  const number = (count: number, name: string, tone: string) =>
    html`<div class="${tone}"><dt>${name}</dt><dd>${count}</dd></div>`
  // The badge above it says the word.
  const said = verdictSentence(exploration).replace(/^[^:]+: /, '')
  const day = created_at.slice(0, 16).replace('T', ' ')
  return html`<div class="brand"><span><b>yield-sandbox explore</b> · ${shellWords(command)} · seed ${seed}</span><time datetime="${created_at}">${day} UTC</time></div>
<p class="verdict ${verdict}">${verdict}</p><h1>${said.charAt(0).toUpperCase() + said.slice(1)}</h1>
<dl class="numbers">${number(counts.survived + counts.gave_up_safely, 'came out well', 'passed')}${number(bad, 'went wrong', 'failed')}${number(open, 'not tried or never struck', 'not_exercised')}</dl>
<p class="id">${tally(exploration)}. ${pace(exploration)}.</p>`
}
