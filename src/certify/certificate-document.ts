import type { Verdict } from '../verdict/report.ts'
import type { CertificateEvidence } from './evidence.ts'

/** Evidence, and a digest that reveals changes to it. */
export interface Certificate {
  /** `sha256:` and 64 hexadecimal digits. */
  digest: string
  evidence: CertificateEvidence
}

/** The conclusion of a certificate. */
export interface CertificateSummary {
  verdict: Verdict
  /** One sentence. */
  summary: string
  proved: number
  contradicted: number
  unproved: number
  /** Number of runs of the exploration that went wrong; `runs` is the number of all. */
  bad_runs: number
  runs: number
}

/** Words of a rule. */
export interface RuleWords {
  title: string
  /** The situation in which it can be judged. */
  situation: string
  /** Of a broken rule alone: the mistake, its cost, and what shows it again. */
  broken?: { title: string; impact: string; consequence: string; rule: string; fix: string; again: string }
}

/** Incidents of one cause, by their places in the evidence: the first stands for all. */
export interface CauseWords {
  first: number
  others: number[]
  /** "deposit (close before broadcast, reverted), withdraw (reverted)"; empty for a single one. */
  also_at: string
}

/** What a page says beside the evidence, so that it can be made of the file alone. */
export interface CertificateWords {
  /** The command line that certifies the same again. */
  again: string
  /** By the id of the finding. */
  rules: Record<string, RuleWords>
  /** In the order of the scenarios. */
  scenarios: { end: string; failed: boolean; operations: string[] }[]
  causes: CauseWords[]
  /** Titles of the faults by their ids. */
  hazards: Record<string, string>
  /** Outcomes of runs, the worst first. */
  outcomes: Record<string, { name: string; meaning: string }>
}

/** A certificate as its JSON file holds it. */
export interface CertificateDocument extends CertificateSummary, Certificate {
  words: CertificateWords
}
