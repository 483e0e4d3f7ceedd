import { wrapped } from '../../support/wrapped.ts'
import { plainText } from '../../verdict/render/plain-text.ts'
import type { Exploration, TrialOutcome } from '../exploration.ts'
import { isBad } from '../judge/judge-trial.ts'
import { matrixOf } from '../matrix.ts'
import { summaryOf } from '../summary.ts'
import { alikeInWords, explanationsOf, type Incident, incidentsOf } from './incidents.ts'
import { COLOURS, matrixLines, type Paint, painter } from './matrix-lines.ts'
import { isAside, OUTCOMES } from './outcomes.ts'
import { leftOpen, pace, tally, verdictSentence } from './sentence.ts'

const VERDICTS = { passed: '1;32', failed: '1;31', inconclusive: '1;33' }

/**
 * For a terminal: the matrix, what went wrong in full and the worst first, the rest in a line each. No line is wider than 100 columns
 * but for command lines, which stay whole, to be copied.
 */
export function renderText(exploration: Exploration, { colour = false }: { colour?: boolean } = {}): string {
  const paint = painter(colour)
  const { verdict } = summaryOf(exploration)
  const aside = [
    ...incidentsOf(exploration, isAside).flatMap((incident) => asideLines(incident, paint)),
    ...leftOpen(exploration).flatMap((note) => wrapped('', plainText(note), { indent: '    ' })),
  ]
  return [
    ...matrixLines(matrixOf(exploration), paint),
    '',
    ...incidentsOf(exploration, ({ level }) => isBad(level)).flatMap((incident) => [
      ...incidentLines(incident, paint),
      '',
    ]),
    ...(aside.length > 0 ? [...aside, ''] : []),
    ...wrapped('', verdictSentence(exploration)).map((line) => paint(VERDICTS[verdict], line)),
    ...wrapped('', `${tally(exploration)}; ${pace(exploration)}; seed ${exploration.seed}.`),
    '',
  ].join('\n')
}

function incidentLines(incident: Incident, paint: Paint): string[] {
  const { outcome, first } = incident
  const also = alikeInWords(incident)
  const [head = '', ...more] = signed(outcome, `${first.trial.id}: ${OUTCOMES[outcome].name} (${first.level})`)
  return [
    paint(COLOURS[outcome], head),
    ...more.map((line) => paint(COLOURS[outcome], line)),
    ...first.sentences.flatMap((sentence) => wrapped('    ', plainText(sentence))),
    ...explanationsOf(incident).flatMap(({ id, title, explanation }) => [
      ...wrapped('    why    ', `${title} (${id}).`),
      ...wrapped('           ', plainText(explanation)),
    ]),
    ...(also === undefined ? [] : wrapped('    also   ', plainText(also))),
    `    again  ${plainText(first.repeat)}`,
  ]
}

function asideLines(incident: Incident, paint: Paint): string[] {
  const { outcome, first } = incident
  const also = alikeInWords(incident)
  const what = `${first.trial.id}: ${OUTCOMES[outcome].name}; ${first.sentences.join('; ')}`
  const [head = '', ...more] = signed(outcome, also === undefined ? what : `${what}; also ${also}`)
  return [paint(COLOURS[outcome], head.charAt(0)) + head.slice(1), ...more]
}

/** Behind the sign of an outcome. */
function signed(outcome: TrialOutcome, text: string): string[] {
  return wrapped(`${OUTCOMES[outcome].sign} `, plainText(text), { indent: '    ' })
}
