import { createHash } from 'node:crypto'
import { FAILED, INCONCLUSIVE } from '../exec/exit-code.ts'
import { isBad } from '../explore/judge/judge-trial.ts'
import { canonicalJson } from '../support/json.ts'
import { plural } from '../verdict/evidence/words.ts'
import type { Certificate, CertificateSummary } from './certificate-document.ts'
import { type CertificateEvidence, type FindingOutcome, isOpen, type ScenarioEvidence } from './evidence.ts'

/** Makes the certificate of this evidence. */
export function certificateOf(evidence: CertificateEvidence): Certificate {
  return { digest: digestOf(evidence), evidence }
}

/** SHA-256 over the canonical JSON of the evidence. */
export function digestOf(evidence: unknown): string {
  return `sha256:${createHash('sha256').update(canonicalJson(evidence)).digest('hex')}`
}

/**
 * Failed: a rule is broken, money went astray, or the command failed where it may not. Else inconclusive: a scenario is inconclusive, a
 * run with a fault needs review, or nothing was exercised.
 */
export function certificateSummary(evidence: CertificateEvidence): CertificateSummary {
  const { scenarios, findings } = evidence
  const count = (wanted: FindingOutcome) => findings.filter(({ outcome }) => outcome === wanted).length
  const [proved, contradicted, unproved] = [count('proved'), count('contradicted'), count('unproved')]
  const { trials } = evidence.exploration
  const bad_runs = trials.filter(({ level }) => isBad(level)).length
  const numbers = { proved, contradicted, unproved, bad_runs, runs: trials.length }
  const wrong = whatIsWrong(evidence, numbers)
  if (wrong.length > 0) return { verdict: 'failed', summary: `Failed: ${wrong.join('; ')}.`, ...numbers }
  if (!exercised(evidence)) {
    return { verdict: 'inconclusive', summary: 'Inconclusive: nothing was exercised.', ...numbers }
  }
  const rules = `${plural(proved, 'rule')} kept, none broken, ${unproved} not tested`
  const open = whatIsOpen(evidence)
  if (open.length > 0) {
    return { verdict: 'inconclusive', summary: `Inconclusive: ${[...open, rules].join('; ')}.`, ...numbers }
  }
  const money = `no money went astray in ${plural(struckIn(evidence), 'run')} with a fault`
  const where = plural(scenarios.length, 'scenario')
  return {
    verdict: 'passed',
    summary: `Passed: ${rules} in ${where}; ${money}${unprovedCrashes(evidence)}.`,
    ...numbers,
  }
}

/** The exit code of `certify`. If nothing was exercised, it is never 0, whatever is allowed. */
export function certificateExitCode(evidence: CertificateEvidence, { allowInconclusive = false } = {}): number {
  const { verdict } = certificateSummary(evidence)
  if (verdict === 'inconclusive' && allowInconclusive && exercised(evidence)) return 0
  return { passed: 0, failed: FAILED, inconclusive: INCONCLUSIVE }[verdict]
}

/** @returns true if the command failed in a scenario where it may not; a signal or a timeout is not a failed assertion, so both count */
export function failedItself({ end, may_fail }: Pick<ScenarioEvidence, 'end' | 'may_fail'>): boolean {
  return end !== '0' && !(may_fail && /^\d+$/.test(end))
}

/** @returns the part of the sentence that says that crashes are unproved; empty where they are not, or in certificates of earlier versions */
function unprovedCrashes({ exploration: { not_restartable: reason = null } }: CertificateEvidence): string {
  return reason === null ? '' : '; crashes are unproved, since the command cannot be started again'
}

type Numbers = Omit<CertificateSummary, 'verdict' | 'summary'>

function whatIsWrong({ scenarios }: CertificateEvidence, { contradicted, bad_runs, runs }: Numbers): string[] {
  const of = (count: number) => `in ${count} of ${plural(scenarios.length, 'scenario')}`
  const astray = scenarios.filter(({ operations }) => operations.some(({ level }) => isBad(level))).length
  const gaveUp = scenarios.filter(failedItself).length
  const failed = scenarios.filter(({ verdict }) => verdict === 'failed').length
  const said = [
    ...(contradicted > 0 ? [`${plural(contradicted, 'rule')} ${contradicted === 1 ? 'is' : 'are'} broken`] : []),
    ...(bad_runs > 0
      ? [`money went astray or the command hung in ${bad_runs} of ${plural(runs, 'run')} with a fault`]
      : []),
    ...(astray > 0 ? [`money went astray ${of(astray)}`] : []),
    ...(gaveUp > 0 ? [`the command failed ${of(gaveUp)}`] : []),
  ]
  return said.length === 0 && failed > 0 ? [`the verdict is failed ${of(failed)}`] : said
}

function whatIsOpen({ scenarios, exploration: { trials } }: CertificateEvidence): string[] {
  const names = scenarios.filter(({ verdict }) => verdict === 'inconclusive').map(({ name }) => name)
  const runs = trials.filter(({ level }) => isOpen(level)).length
  return [
    ...(names.length > 0
      ? [`${names.length} of ${plural(scenarios.length, 'scenario')} came to no verdict (${names.join(', ')})`]
      : []),
    ...(runs > 0
      ? [`${runs} of ${plural(trials.length, 'run')} with a fault ${runs === 1 ? 'needs' : 'need'} review`]
      : []),
  ]
}

function exercised(evidence: CertificateEvidence): boolean {
  return struckIn(evidence) > 0 || evidence.findings.some(({ outcome }) => outcome === 'proved')
}

/** Number of runs in which a fault struck. */
function struckIn({ exploration: { trials } }: CertificateEvidence): number {
  return trials.filter(({ outcome }) => outcome !== 'not_exercised' && outcome !== 'errored').length
}
