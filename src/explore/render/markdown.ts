import { code, escaped, VERDICT_SIGNS } from '../../verdict/render/markdown-text.ts'
import type { Exploration } from '../exploration.ts'
import { isBad } from '../judge/judge-trial.ts'
import { countIn, matrixOf } from '../matrix.ts'
import { summaryOf } from '../summary.ts'
import { alikeInWords, explanationsOf, type Incident, incidentsOf } from './incidents.ts'
import { isAside, legendOf, OUTCOMES, signOf } from './outcomes.ts'
import { leftOpen, pace, tally, verdictSentence } from './sentence.ts'

/** For a comment on a change: the verdict, what went wrong, and the matrix. */
export function renderMarkdown(exploration: Exploration): string {
  const incidents = incidentsOf(exploration, ({ level }) => isBad(level))
  const aside = incidentsOf(exploration, isAside)
  return [
    `## ${VERDICT_SIGNS[summaryOf(exploration).verdict]} ${escaped(verdictSentence(exploration))}`,
    '',
    `${escaped(tally(exploration))}. ${escaped(pace(exploration))}; seed ${exploration.seed}.`,
    '',
    ...incidents.flatMap(incidentLines),
    ...matrixLines(exploration),
    ...aside.map(asideLine),
    ...leftOpen(exploration).map((note) => `- ${escaped(note)}`),
    '',
  ].join('\n')
}

function incidentLines(incident: Incident): string[] {
  const { outcome, first } = incident
  const also = alikeInWords(incident)
  return [
    `### ${escaped(signOf(first))} ${OUTCOMES[outcome].name} (${first.level}): ${code(first.trial.id)}`,
    '',
    ...first.sentences.map((sentence) => `- ${escaped(sentence)}`),
    ...explanationsOf(incident).map(
      ({ id, title, explanation, fix }) =>
        `- **Why:** ${escaped(title)} (${code(id)}). ${escaped(explanation)} **Fix:** ${escaped(fix)}`,
    ),
    ...(also === undefined ? [] : [`- **Also:** ${escaped(also)}`]),
    `- **Again:** ${code(first.repeat)}`,
    '',
  ]
}

function asideLine(incident: Incident): string {
  const { outcome, first } = incident
  const { name } = OUTCOMES[outcome]
  const also = alikeInWords(incident)
  const more = also === undefined ? '' : `; also ${escaped(also)}`
  return `- ${escaped(signOf(first))} ${code(first.trial.id)}: ${name}. ${escaped(first.sentences.join('; '))}${more}`
}

function matrixLines(exploration: Exploration): string[] {
  const matrix = matrixOf(exploration)
  const { operations, rows } = matrix
  if (rows.length === 0) return []
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [
    row(['', ...operations.map((operation) => code(operation))]),
    row(['---', ...operations.map(() => ':-:')]),
    ...rows.map(({ title, cells }) =>
      row([escaped(title), ...cells.map((cell) => (cell ? escaped(`${signOf(cell)}${countIn(cell)}`) : ''))]),
    ),
    '',
    legendOf(matrix)
      .map(({ sign, name }) => `${escaped(sign)} ${name}`)
      .join(', '),
    '',
  ]
}
