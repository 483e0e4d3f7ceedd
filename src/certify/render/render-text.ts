import { isBad } from '../../explore/judge/judge-trial.ts'
import { OUTCOMES, signOf } from '../../explore/render/outcomes.ts'
import { plainText } from '../../render/safe-text.ts'
import { plural } from '../../verdict/evidence/words.ts'
import { FINDINGS } from '../../verdict/findings/index.ts'
import { certificateSummary, failedItself } from '../certificate.ts'
import type { Certificate } from '../certificate-document.ts'
import { type CertificateEvidence, isOpen, operationInWords } from '../evidence.ts'
import { cardsOf, placesInWords } from './causes.ts'
import { endInWords } from './document-of.ts'

/** Options of the text. */
export interface CertificateTextTerms {
  /** Shows successes, too: every rule, every scenario with its operations, and every run that was not simply survived. */
  verbose?: boolean | undefined
}

/** Text for a terminal: failures and open points, a line each, then the numbers and the digest, and the verdict last. */
export function renderCertificateText(
  { digest, evidence }: Certificate,
  { verbose = false }: CertificateTextTerms = {},
): string {
  const { summary, proved, contradicted, unproved } = certificateSummary(evidence)
  const lines = [
    ...(verbose ? [...otherRules(evidence), ...otherRuns(evidence), ...allScenarios(evidence)] : []),
    ...brokenRules(evidence),
    ...incidents(evidence),
    ...scenarios(evidence),
    ...crashes(evidence),
  ]
  return [
    ...lines.map((line) => plainText(line)),
    ...(lines.length > 0 ? [''] : []),
    `${plural(proved, 'rule')} kept, ${contradicted} broken, ${unproved} not tested; ${digest}`,
    plainText(summary),
    '',
  ].join('\n')
}

function brokenRules({ findings }: CertificateEvidence): string[] {
  const titleOf = (id: string) => FINDINGS.find((finding) => finding.id === id)?.failureTitle ?? id
  return findings
    .filter(({ outcome }) => outcome === 'contradicted')
    .map(({ id, contradicted_in }) => `✗ ${titleOf(id)} (${id}; ${contradicted_in.join(', ')})`)
}

function otherRules({ findings }: CertificateEvidence): string[] {
  const titleOf = (id: string) => FINDINGS.find((finding) => finding.id === id)?.title ?? id
  return findings
    .filter(({ outcome }) => outcome !== 'contradicted')
    .map(({ id, outcome, proved_in, review_in }) => {
      const review = review_in.length > 0 ? [`needs review in ${review_in.join(', ')}`] : []
      return `${outcome === 'proved' ? '✓' : '·'} ${titleOf(id)} (${[[id, ...proved_in].join(', '), ...review].join('; ')})`
    })
}

/** Runs that are neither among the incidents nor survived. */
function otherRuns({ exploration }: CertificateEvidence): string[] {
  return exploration.trials
    .filter(({ level }) => level !== 'ok' && !isBad(level) && !isOpen(level))
    .map(({ id, outcome, level }) => `${signOf({ outcome, level })} ${id}: ${OUTCOMES[outcome].name}`)
}

function allScenarios({ scenarios: all }: CertificateEvidence): string[] {
  return all.flatMap((scenario) => [
    `${SIGNS[scenario.verdict]} ${scenario.name}: ${scenario.verdict}, the command ${endInWords(scenario)}`,
    ...scenario.operations
      .filter(({ level }) => !isBad(level) && !isOpen(level))
      .map((operation) => `· ${scenario.name}: ${operationInWords(operation)}`),
  ])
}

const SIGNS = { passed: '✓', failed: '✗', inconclusive: '?' }

/** One line for each cause. */
function incidents({ exploration }: CertificateEvidence): string[] {
  return cardsOf(exploration.incidents).map(({ first, others }) => {
    const { outcome, level, trial, sentences } = first
    const also = others.length > 0 ? [`also at ${placesInWords(others)}`] : []
    const sign = isBad(level) ? '✗' : '?'
    return `${sign} ${[`${trial}: ${OUTCOMES[outcome].name}`, ...sentences, ...also].join('; ')}`
  })
}

/** The reason why the command was never killed, and what would change that. */
function crashes({ exploration: { not_restartable: reason = null } }: CertificateEvidence): string[] {
  if (reason === null) return []
  return [
    `· not restartable, so crashes are unproved: the command, ${reason}. Certify one that goes on with what it left open.`,
  ]
}

function scenarios({ scenarios: all }: CertificateEvidence): string[] {
  return all.flatMap((scenario) => [
    ...(failedItself(scenario) ? [`✗ ${scenario.name}: the command ${endInWords(scenario)}`] : []),
    ...scenario.operations
      .filter(({ level }) => isBad(level) || isOpen(level))
      .map((operation) => `${isBad(operation.level) ? '✗' : '?'} ${scenario.name}: ${operationInWords(operation)}`),
  ])
}
