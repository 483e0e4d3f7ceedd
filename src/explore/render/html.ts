import { shellWords } from '../../support/shell-words.ts'
import { html, type Markup } from '../../verdict/render/html/markup.ts'
import { page } from '../../verdict/render/html/page.ts'
import { STYLE } from '../../verdict/render/html/style.ts'
import { type VerdictHead, verdictHead } from '../../verdict/render/html/verdict-head.ts'
import type { Exploration } from '../exploration.ts'
import { isBad } from '../judge/judge-trial.ts'
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
