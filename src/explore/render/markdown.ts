import { code, escaped } from '../../verdict/render/markdown-text.ts'
import type { Exploration } from '../exploration.ts'
import { matrixOf } from '../matrix.ts'
import { type Incident, incidentsOf } from './incidents.ts'
import { OUTCOMES, SHOWN_IN_FULL } from './outcomes.ts'
import { pace, tally, verdictSentence } from './sentence.ts'

/** For a comment on a change: the verdict, what went wrong, and the matrix. */
export function renderMarkdown(exploration: Exploration): string {
  const incidents = incidentsOf(exploration, SHOWN_IN_FULL)
  const aside = incidentsOf(exploration, ['gave_up_safely', 'errored', 'not_exercised'])
  const { untried } = exploration
  return [
    `## ${escaped(verdictSentence(exploration))}`,
    '',
    `${escaped(tally(exploration))}. ${escaped(pace(exploration))}; seed ${exploration.seed}.`,
    '',
    ...incidents.flatMap(incidentLines),
    ...matrixLines(exploration),
    ...aside.map(({ outcome, first, others }) => {
      const alike = others.length > 0 ? ` and ${others.length} alike` : ''
      return `- ${OUTCOMES[outcome].sign} ${code(first.trial.id)}${alike}: ${OUTCOMES[outcome].name}. ${escaped(first.sentences.join('; '))}`
    }),
    ...(untried === null ? [] : [`- Not tried: ${untried.ids.length} more (${escaped(untried.reason)}).`]),
    '',
  ].join('\n')
}

function incidentLines({ outcome, first, others }: Incident): string[] {
  return [
    `### ${OUTCOMES[outcome].sign} ${OUTCOMES[outcome].name}: ${code(first.trial.id)}`,
    '',
    ...first.sentences.map((sentence) => `- ${escaped(sentence)}`),
    ...first.findings.map(
      ({ id, title, explanation }) => `- **Why:** ${escaped(title)} (${code(id)}). ${escaped(explanation)}`,
    ),
    ...(others.length > 0 ? [`- **Also:** ${others.map((id) => code(id)).join(', ')}`] : []),
    `- **Again:** ${code(first.repeat)}`,
    '',
  ]
}

function matrixLines(exploration: Exploration): string[] {
  const { operations, rows } = matrixOf(exploration)
  if (rows.length === 0) return []
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [
    row(['', ...operations.map((operation) => code(operation))]),
    row(['---', ...operations.map(() => ':-:')]),
    ...rows.map(({ title, cells }) =>
      row([escaped(title), ...cells.map((cell) => (cell ? OUTCOMES[cell.outcome].sign : ''))]),
    ),
    '',
  ]
}
