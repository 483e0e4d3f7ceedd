import { plainText } from '../../render/safe-text.ts'
import { type TextTerms, Typesetter } from '../../render/typesetter.ts'
import type { AssumptionOutcome, Exploration, TrialResult } from '../exploration.ts'
import { isBad } from '../judge/judge-trial.ts'
import { matrixOf } from '../matrix.ts'
import { explorationSummary } from '../summary.ts'
import { ASSUMPTION_WORDS, harms, settingName, worstAssumptionsFirst } from './assumption-words.ts'
import { alikeInWords, explanationsOf, type Incident, incidentsOf } from './incidents.ts'
import { COLOURS, LEVEL_COLOURS, matrixLines } from './matrix-lines.ts'
import { GRAVE, inOneLine, isAside, OUTCOMES, signOf } from './outcomes.ts'
import { leftOpen, pace, tally, verdictSentence } from './sentence.ts'

const VERDICTS = { passed: '1;32', failed: '1;31', inconclusive: '1;33' }

/** Maximum number of incidents of each kind without `verbose`. */
const MOST = 5

/**
 * Text for a terminal: the matrix, the incidents, the worst first, each with its fix; then the verdict. `verbose` adds harmless
 * results. Lines are wrapped except for command lines, which can be copied.
 */
export function renderExplorationText(exploration: Exploration, terms: TextTerms = {}): string {
  const { verbose = false } = terms
  const set = new Typesetter(terms)
  const { verdict } = explorationSummary(exploration)
  const isOpen = (result: TrialResult) => isAside(result) && (verbose || GRAVE.includes(result.level))
  const incidents = incidentsOf(exploration, ({ level }) => isBad(level))
  const aside = incidentsOf(exploration, isOpen)
  const most = verbose ? Number.POSITIVE_INFINITY : MOST
  return [
    ...matrixLines(matrixOf(exploration), (sgr, text) => set.paint(sgr, text)),
    '',
    ...incidents.slice(0, most).flatMap((incident) => incidentLines(incident, set)),
    ...leftOut(incidents, most),
    ...aside.slice(0, most).flatMap((incident) => asideLines(incident, set)),
    ...leftOut(aside, most),
    ...assumptionLines(exploration, set, verbose),
    ...leftOpen(exploration).flatMap((note) => set.wrap('', plainText(note), '  ')),
    ...set.wrap('', `${tally(exploration)}; ${pace(exploration)}; seed ${exploration.seed}.`),
    ...set.whole(VERDICTS[verdict], plainText(verdictSentence(exploration))),
    '',
  ].join('\n')
}

/** Other settings of the service: what the command breaks under with a command that does it again, and what says nothing. */
function assumptionLines({ assumptions = [] }: Exploration, set: Typesetter, verbose: boolean): string[] {
  if (assumptions.length === 0) return []
  const together = BRIEF.flatMap((outcome) => {
    const { sign, name } = ASSUMPTION_WORDS[outcome]
    const [first, ...others] = verbose ? [] : assumptions.filter((one) => one.outcome === outcome)
    if (!first) return []
    return set.signed(sign, LEVEL_COLOURS[first.level], `${name}: ${[first, ...others].map(settingName).join(', ')}`)
  })
  const single = worstAssumptionsFirst(assumptions).filter(({ outcome }) => verbose || !BRIEF.includes(outcome))
  const lines = single.flatMap((one) => {
    const { sign, name } = ASSUMPTION_WORDS[one.outcome]
    const colour = LEVEL_COLOURS[one.level]
    if (!harms(one)) return set.signed(sign, colour, `${settingName(one)}: ${name}; ${inOneLine(one.sentences)}.`)
    return [
      ...set.signed(sign, colour, `${settingName(one)}: ${name} (${one.level}). ${one.means}`),
      ...one.sentences.flatMap((sentence) => set.wrap('  ', plainText(sentence))),
      ...one.findings.flatMap(({ id, title, fix }) => set.labelled({ why: `${title} (${id}).`, fix })),
      `  again     ${plainText(one.repeat)}`,
    ]
  })
  return ['Other settings of the service, one at a time:', ...lines, ...together, '']
}

/** Outcomes under other settings that are named in one line without `verbose`. */
const BRIEF: readonly AssumptionOutcome[] = ['untried', 'survived']

function leftOut(incidents: readonly Incident[], most: number): string[] {
  return incidents.length > most ? [`  … and ${incidents.length - most} more; --verbose shows them`] : []
}

function incidentLines(incident: Incident, set: Typesetter): string[] {
  const { outcome, first } = incident
  return [
    ...set.signed(signOf(first), COLOURS[outcome], `${first.trial.id}: ${OUTCOMES[outcome].name} (${first.level})`),
    ...first.sentences.flatMap((sentence) => set.wrap('  ', plainText(sentence))),
    ...explanationsOf(incident).flatMap(({ id, title, fix }) => set.labelled({ why: `${title} (${id}).`, fix })),
    ...set.labelled({ also: alikeInWords(incident) }),
    `  again     ${plainText(first.repeat)}`,
  ]
}

function asideLines(incident: Incident, set: Typesetter): string[] {
  const { outcome, first } = incident
  const also = alikeInWords(incident)
  const what = `${first.trial.id}: ${OUTCOMES[outcome].name}; ${inOneLine(first.sentences)}`
  return set.signed(signOf(first), COLOURS[outcome], `${also === undefined ? what : `${what}; also ${also}`}.`)
}
