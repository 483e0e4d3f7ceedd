import { execCommandLine } from '../../exec/exec-command-line.ts'
import { STRIKES } from '../../explore/plan/plan.ts'
import { OUTCOMES, OUTCOMES_SHOWN } from '../../explore/render/outcomes.ts'
import { documentPage } from '../../render/document-page.ts'
import { shellWords } from '../../support/foreign-text.ts'
import { FINDINGS } from '../../verdict/findings/index.ts'
import { certificateSummary, failedItself } from '../certificate.ts'
import type { Certificate, CertificateDocument, CertificateWords, RuleWords } from '../certificate-document.ts'
import { type CertificateEvidence, operationInWords, type ScenarioEvidence } from '../evidence.ts'
import { cardsOf, placesInWords } from './causes.ts'

/** Puts the verdict and all words before the evidence. */
export function certificateDocument({ digest, evidence }: Certificate): CertificateDocument {
  return { ...certificateSummary(evidence), words: certificateWords(evidence), digest, evidence }
}

/** Renders a self-contained page: no network, no script. The same certificate gives the same bytes. */
export function renderPage(certificate: Certificate): string {
  return documentPage('certificate', certificateDocument(certificate), { exact: true })
}

function certificateWords(evidence: CertificateEvidence): CertificateWords {
  const { scenarios, findings, exploration } = evidence
  const { trials, incidents } = exploration
  const hazards = STRIKES.filter(({ id }) => [...trials, ...incidents].some(({ hazard }) => hazard === id))
  const outcomes = OUTCOMES_SHOWN.filter((id) => [...trials, ...incidents].some(({ outcome }) => outcome === id))
  return {
    again: commandOf(evidence),
    rules: Object.fromEntries(findings.map((entry) => [entry.id, ruleWords(entry, evidence)])),
    scenarios: scenarios.map((scenario) => {
      const failed = failedItself(scenario)
      return { end: endInWords(scenario), failed, operations: scenario.operations.map(operationInWords) }
    }),
    causes: cardsOf(incidents).map(({ first, others }) => ({
      first: incidents.indexOf(first),
      others: others.map((other) => incidents.indexOf(other)),
      also_at: placesInWords(others),
    })),
    hazards: Object.fromEntries(hazards.map(({ id, title }) => [id, title])),
    outcomes: Object.fromEntries(
      outcomes.map((id) => [id, { name: OUTCOMES[id].name, meaning: OUTCOMES[id].meaning }]),
    ),
  }
}

/** The id instead of words for a finding that this version does not have. */
function ruleWords(entry: CertificateEvidence['findings'][number], evidence: CertificateEvidence): RuleWords {
  const { id, outcome, contradicted_in } = entry
  const finding = FINDINGS.find((one) => one.id === id)
  if (!finding) return { title: id, situation: '' }
  const { title, situation, failureTitle, impact, consequence, rule, fix } = finding
  if (outcome !== 'contradicted') return { title, situation }
  const again = scenarioCommand(contradicted_in[0] ?? '', evidence)
  return { title, situation, broken: { title: failureTitle, impact, consequence, rule, fix, again } }
}

/** The command line of the certification, with the flags that matter. */
function commandOf({ seed, clock, flags, command }: CertificateEvidence): string {
  const same = ['--seed', String(seed), '--clock', clock, ...flags]
  return shellWords(['yield-sandbox', 'certify', ...same, '--', ...command])
}

/** A command line that runs the command through a scenario again, as `certify` did. It drops --tolerate, which `exec` does not have. */
function scenarioCommand(scenario: string, { seed, flags, command }: CertificateEvidence): string {
  const kept = flags[0] === '--tolerate' ? flags.slice(1) : flags
  return execCommandLine(['--scenario', scenario], { seed, flags: kept, command })
}

/** "ended well", "failed: code 1", "failed, as it may: code 1" */
export function endInWords(scenario: Pick<ScenarioEvidence, 'end' | 'may_fail'>): string {
  const { end } = scenario
  if (end === '0') return 'ended well'
  if (end === 'timeout') return 'failed: not done in time'
  if (!/^\d+$/.test(end)) return `failed: ${end}`
  return failedItself(scenario) ? `failed: code ${end}` : `failed, as it may: code ${end}`
}
