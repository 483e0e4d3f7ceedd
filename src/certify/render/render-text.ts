import { isBad } from '../../explore/judge/judge-trial.ts'
import { OUTCOMES } from '../../explore/render/outcomes.ts'
import { plural } from '../../verdict/evidence/words.ts'
import { FINDINGS } from '../../verdict/findings/index.ts'
import { plainText } from '../../verdict/render/plain-text.ts'
import { type Certificate, failedItself, summaryOf } from '../certificate.ts'
import type { Evidence } from '../evidence.ts'
import { isOpen } from '../is-open.ts'
import { operationInWords } from '../operation-in-words.ts'
import { cardsOf } from './cards.ts'
import { placesInWords } from './exploration-sections.ts'
import { endInWords } from './finding-sections.ts'

/** For a terminal: what is wrong or open, a line each, then the numbers and the digest, and the verdict last. */
export function renderText({ digest, evidence }: Certificate): string {
  const { summary, proved, contradicted, unproved } = summaryOf(evidence)
  const lines = [...brokenRules(evidence), ...incidents(evidence), ...scenarios(evidence)]
  return [
    ...lines.map((line) => plainText(line)),
    ...(lines.length > 0 ? [''] : []),
    `${plural(proved, 'rule')} kept, ${contradicted} broken, ${unproved} not tested; ${digest}`,
    plainText(summary),
    '',
  ].join('\n')
}

function brokenRules({ findings }: Evidence): string[] {
  const titleOf = (id: string) => FINDINGS.find((finding) => finding.id === id)?.failureTitle ?? id
  return findings
    .filter(({ outcome }) => outcome === 'contradicted')
    .map(({ id, contradicted_in }) => `✗ ${titleOf(id)} (${id}; ${contradicted_in.join(', ')})`)
}

/** A line for each cause. */
function incidents({ exploration }: Evidence): string[] {
  return cardsOf(exploration.incidents).map(({ first, others }) => {
    const { outcome, level, trial, sentences } = first
    const also = others.length > 0 ? [`also at ${placesInWords(others)}`] : []
    const sign = isBad(level) ? '✗' : '?'
    return `${sign} ${[`${trial}: ${OUTCOMES[outcome].name}`, ...sentences, ...also].join('; ')}`
  })
}

function scenarios({ scenarios: all }: Evidence): string[] {
  return all.flatMap((scenario) => [
    ...(failedItself(scenario) ? [`✗ ${scenario.name}: the command ${endInWords(scenario)}`] : []),
    ...scenario.operations
      .filter(({ level }) => isBad(level) || isOpen(level))
      .map((operation) => `${isBad(operation.level) ? '✗' : '?'} ${scenario.name}: ${operationInWords(operation)}`),
  ])
}
