import { code, markdownEscaped } from '../../render/safe-text.ts'
import { VERDICT_SIGNS } from '../../verdict/render/report-parts.ts'
import type { Exploration } from '../exploration.ts'
import { isBad } from '../judge/judge-trial.ts'
import { countIn, matrixOf } from '../matrix.ts'
import { explorationSummary } from '../summary.ts'
import { ASSUMPTION_WORDS, settingName, worstAssumptionsFirst } from './assumption-words.ts'
import { alikeInWords, explanationsOf, type Incident, incidentsOf } from './incidents.ts'
import { inOneLine, isAside, legendOf, OUTCOMES, signOf } from './outcomes.ts'
import { leftOpen, pace, tally, verdictSentence } from './sentence.ts'

/** Text for a comment on a change: the verdict, the incidents, and the matrix. */
export function renderMarkdown(exploration: Exploration): string {
  const incidents = incidentsOf(exploration, ({ level }) => isBad(level))
  const aside = incidentsOf(exploration, isAside)
  return [
    `## ${VERDICT_SIGNS[explorationSummary(exploration).verdict]} ${markdownEscaped(verdictSentence(exploration))}`,
    '',
    `${markdownEscaped(tally(exploration))}. ${markdownEscaped(pace(exploration))}; seed ${exploration.seed}.`,
    '',
    ...incidents.flatMap(incidentLines),
    ...matrixLines(exploration),
    ...aside.map(asideLine),
    ...assumptionLines(exploration),
    ...leftOpen(exploration).map((note) => `- ${markdownEscaped(note)}`),
    '',
  ].join('\n')
}

function assumptionLines({ assumptions = [] }: Exploration): string[] {
  if (assumptions.length === 0) return []
  const rows = worstAssumptionsFirst(assumptions).map((one) => {
    const { sign, name } = ASSUMPTION_WORDS[one.outcome]
    const cells = [
      markdownEscaped(`${sign} ${name}`),
      code(settingName(one)),
      markdownEscaped(inOneLine(one.sentences)),
    ]
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  })
  return [
    '',
    '### Other settings of the service',
    '',
    '| outcome | setting | what came of it |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ]
}

function incidentLines(incident: Incident): string[] {
  const { outcome, first } = incident
  const also = alikeInWords(incident)
  return [
    `### ${markdownEscaped(signOf(first))} ${OUTCOMES[outcome].name} (${first.level}): ${code(first.trial.id)}`,
    '',
    ...first.sentences.map((sentence) => `- ${markdownEscaped(sentence)}`),
    ...explanationsOf(incident).map(
      ({ id, title, explanation, fix }) =>
        `- **Why:** ${markdownEscaped(title)} (${code(id)}). ${markdownEscaped(explanation)} **Fix:** ${markdownEscaped(fix)}`,
    ),
    ...(also === undefined ? [] : [`- **Also:** ${markdownEscaped(also)}`]),
    `- **Again:** ${code(first.repeat)}`,
    '',
  ]
}

function asideLine(incident: Incident): string {
  const { outcome, first } = incident
  const { name } = OUTCOMES[outcome]
  const also = alikeInWords(incident)
  const more = also === undefined ? '' : `; also ${markdownEscaped(also)}`
  return `- ${markdownEscaped(signOf(first))} ${code(first.trial.id)}: ${name}. ${markdownEscaped(inOneLine(first.sentences))}${more}`
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
      row([
        markdownEscaped(title),
        ...cells.map((cell) => (cell ? markdownEscaped(`${signOf(cell)}${countIn(cell)}`) : '')),
      ]),
    ),
    '',
    legendOf(matrix)
      .map(({ sign, name }) => `${markdownEscaped(sign)} ${name}`)
      .join(', '),
    '',
  ]
}
