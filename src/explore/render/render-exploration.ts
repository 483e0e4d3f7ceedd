import { documentPage } from '../../render/document-page.ts'
import { visibleText } from '../../support/foreign-text.ts'
import type { ReportForm } from '../../verdict/report.ts'
import type { Exploration } from '../exploration.ts'
import { explorationDocument } from './document-of.ts'
import { renderJunit } from './junit.ts'
import { renderMarkdown } from './markdown.ts'
import { renderExplorationText } from './text.ts'

/** Forms of an exploration. SARIF is not one: it reports places in code, not runs. */
export type ExplorationForm = Exclude<ReportForm, 'sarif'>

const RENDERERS: Record<ExplorationForm, (exploration: Exploration) => string> = {
  json: (exploration) => `${visibleText(JSON.stringify(explorationDocument(exploration), null, 2))}\n`,
  junit: renderJunit,
  html: (exploration) => documentPage('exploration', explorationDocument(exploration)),
  markdown: renderMarkdown,
  text: (exploration) => renderExplorationText(exploration, { verbose: true }),
}

/** Renders an exploration in one of its forms. */
export function renderExploration(form: ExplorationForm, exploration: Exploration): string {
  return RENDERERS[form](exploration)
}
