import { createHash } from 'node:crypto'
import { FAILED, INCONCLUSIVE } from '../exec/exit-code.ts'
import { BAD } from '../explore/summary.ts'
import { canonicalJson } from '../support/canonical-json.ts'
import { plural } from '../verdict/evidence/words.ts'
import type { Verdict } from '../verdict/report.ts'
import type { Evidence, FindingOutcome } from './evidence.ts'

/** Evidence, and what notices that it was changed. */
export interface Certificate {
  /** `sha256:` and 64 hexadecimal digits. */
  digest: string
  evidence: Evidence
}

/** What a certificate comes to. */
export interface CertificateSummary {
  verdict: Verdict
  /** One sentence. */
  summary: string
  proved: number
  contradicted: number
  unproved: number
  /** How many runs of the exploration went wrong, of how many. */
  bad_runs: number
  runs: number
}

/** A certificate of this evidence. */
export function certificateOf(evidence: Evidence): Certificate {
  return { digest: digestOf(evidence), evidence }
}

/** SHA-256 over the canonical JSON of the evidence. */
export function digestOf(evidence: unknown): string {
  return `sha256:${createHash('sha256').update(canonicalJson(evidence)).digest('hex')}`
}

/** Failed: a finding is contradicted, the command failed in a scenario, or money went astray. Inconclusive: nothing was exercised. */
export function summaryOf({ scenarios, findings, exploration: { trials } }: Evidence): CertificateSummary {
  const count = (wanted: FindingOutcome) => findings.filter(({ outcome }) => outcome === wanted).length
  const [proved, contradicted, unproved] = [count('proved'), count('contradicted'), count('unproved')]
  const gaveUp = scenarios.filter(({ end }) => end !== '0').length
  const bad_runs = trials.filter(({ outcome }) => BAD.includes(outcome)).length
  const runs = trials.length
  const numbers = { proved, contradicted, unproved, bad_runs, runs }
  const wrong = [
    ...(contradicted > 0
      ? [`${plural(contradicted, 'finding')} ${contradicted === 1 ? 'is' : 'are'} contradicted`]
      : []),
    ...(bad_runs > 0 ? [`money went astray or the command hung in ${bad_runs} of ${runs} runs with a fault`] : []),
    ...(gaveUp > 0 ? [`the command failed in ${gaveUp} of ${scenarios.length} scenarios`] : []),
  ]
  if (wrong.length > 0) return { verdict: 'failed', summary: `Failed: ${wrong.join('; ')}.`, ...numbers }
  const struck = trials.filter(({ outcome }) => outcome === 'survived' || outcome === 'gave_up_safely').length
  if (proved === 0 && struck === 0) {
    return { verdict: 'inconclusive', summary: 'Inconclusive: nothing was exercised.', ...numbers }
  }
  const where = plural(scenarios.length, 'scenario')
  const money = `no money went astray in ${plural(struck, 'run')} with a fault`
  return { verdict: 'passed', summary: `Passed: nothing is contradicted in ${where}, and ${money}.`, ...numbers }
}

/** The exit code of `certify`. */
export function exitCodeOf(evidence: Evidence): number {
  return { passed: 0, failed: FAILED, inconclusive: INCONCLUSIVE }[summaryOf(evidence).verdict]
}
