import { visibleText } from '../../support/foreign-text.ts'
import type { ReportForm } from '../../verdict/report.ts'
import type { Exploration } from '../exploration.ts'
import { explorationSummary } from '../summary.ts'
import { renderHtml } from './html.ts'
import { renderJunit } from './junit.ts'
import { renderMarkdown } from './markdown.ts'
import { verdictSentence } from './sentence.ts'
import { renderExplorationText } from './text.ts'

/** Forms of an exploration. SARIF is not one: it reports places in code, not runs. */
export type ExplorationForm = Exclude<ReportForm, 'sarif'>

const RENDERERS: Record<ExplorationForm, (exploration: Exploration) => string> = {
  json: (exploration) => `${visibleText(JSON.stringify(withSummary(exploration), null, 2))}\n`,
  junit: renderJunit,
  html: renderHtml,
  markdown: renderMarkdown,
  text: (exploration) => renderExplorationText(exploration, { verbose: true }),
}

/** Renders an exploration in one of its forms. */
export function renderExploration(form: ExplorationForm, exploration: Exploration): string {
  return RENDERERS[form](exploration)
}

/** Puts the verdict, its sentence and the counts before the details. */
function withSummary(exploration: Exploration) {
  const { verdict, counts } = explorationSummary(exploration)
  return { verdict, summary: verdictSentence(exploration), counts, ...exploration }
}
