import type { OperationOutcome } from '../oracle/outcome.ts'
import type { Impact, Outcome } from './finding.ts'
import type { FindingId } from './finding-ids.ts'

/** A first-hour mistake in how the client is set up, which explains refusals better than findings could. */
export interface ConfigurationCause {
  /** A noun phrase, such as `user-token-issuer`. */
  id: string
  /** One sentence: what is wrong. */
  title: string
  expected: string
  came: string
  fix: string
  /** True if no request of that client ever got past the check: then little else could be judged. */
  blocking: boolean
  /** How many requests were refused for it. */
  count: number
  /** The first of them. */
  request_ids: string[]
}

/** A finding as a report shows it. */
export interface ReportedFinding {
  id: FindingId
  /** What is right or, when it failed, what is wrong and what it costs. */
  title: string
  outcome: Outcome
  impact: Impact
  /** The rule of the specification. */
  rule: string
  explanation: string
  /** When it failed, or could: what happens to whom. */
  consequence: string
  expected?: string
  came?: string
  fix?: string
  /** A command that brings the situation about; after a failure, one that shows it again. */
  exercise_with?: string
  /** True if the scenario or `--require` asks for it. */
  required: boolean
  /** When it failed and may, by a baseline: why. The verdict does not count it. */
  accepted?: string
  request_ids: string[]
}

/** What the client was exercised on. */
export interface Covered {
  id: string
  exercised: boolean
  count: number
}

/** One exchange as a sequence diagram needs it. */
export interface ExchangeLine {
  request_id: string
  operation: string | null
  tenant: string | null
  external_id: string | null
  /** `POST /v1/partner/end_users/alice/deposit` */
  request: string
  /** Shortened; null when there was none, or none was read. */
  request_body: string | null
  /** `200`, `422 transaction_reverted`, `connection reset`, `client left after 5.0 s` */
  answer: string
  /** True if that answer reached the client. */
  arrived: boolean
  idempotency_key: string | null
  /** `drop_connection at after_broadcast: …` */
  fault: string | null
  connection: number
  /** Milliseconds of real time since the first exchange of the report, at its beginning and end. */
  at_ms: number
  took_ms: number
  tx_hash: string | null
  /** The request whose answer showed the total that it withdraws; null for any other. */
  shown_by: string | null
}

/** What the findings come to. */
export type Verdict = 'passed' | 'failed' | 'inconclusive'

/** `GET /_sandbox/report` */
export interface Report {
  verdict: Verdict
  /** One sentence. */
  summary: string
  /** Rules kept, broken, and not tested or open. */
  proved: number
  contradicted: number
  unproved: number
  /** Name of the scenario started last. */
  scenario?: string
  /** Every random choice derives from it. */
  seed: number
  /** ISO 8601 UTC, wall-clock time. */
  created_at: string
  /** Version of the sandbox. */
  version: string
  /** What was asked for and did not come about, a sentence each: why the verdict is no better. */
  unmet: string[]
  configuration: ConfigurationCause[]
  findings: ReportedFinding[]
  coverage: { operations: Covered[]; errors: Covered[]; faults: Covered[] }
  /** What became of every operation that the client sent, the worst first. */
  operations: OperationOutcome[]
  /** Those that configuration, operations and findings name, and the last that withdrew everything by a total that was shown. */
  exchanges: ExchangeLine[]
}

/** Several reports in one, as `--report` writes them in JSON for several scenarios. */
export interface MergedReport extends Pick<Report, 'verdict' | 'summary' | 'proved' | 'contradicted' | 'unproved'> {
  /** In the order of the scenarios. */
  reports: readonly Report[]
}

const GRAVEST: readonly Verdict[] = ['failed', 'inconclusive', 'passed']

/** The report itself when there is one; of several the gravest verdict, the sums, and each of them. */
export function mergedReport(reports: readonly Report[]): Report | MergedReport {
  const [only, ...others] = reports
  if (only && others.length === 0) return only
  const sum = (count: 'proved' | 'contradicted' | 'unproved') => reports.reduce((all, report) => all + report[count], 0)
  const verdict = GRAVEST.find((one) => reports.some((report) => report.verdict === one)) ?? 'inconclusive'
  const [proved, contradicted, unproved] = [sum('proved'), sum('contradicted'), sum('unproved')]
  return { verdict, summary: mergedSummary(reports), proved, contradicted, unproved, reports }
}

/** "2 of 3 scenarios passed, 1 failed: dropped-deposit." */
function mergedSummary(reports: readonly Report[]): string {
  const of = (verdict: Verdict) => reports.filter((report) => report.verdict === verdict)
  const others = (['failed', 'inconclusive'] as const).flatMap((verdict) => {
    const found = of(verdict)
    return found.length > 0
      ? [`${found.length} ${verdict}: ${found.map(({ scenario = '-' }) => scenario).join(', ')}`]
      : []
  })
  return `${[`${of('passed').length} of ${reports.length} scenarios passed`, ...others].join('; ')}.`
}

/** The forms of a report: what a browser, a server or a person is told of each. The usual suffix first. */
export const REPORT_FORMS = {
  json: { contentType: 'application/json; charset=utf-8', suffixes: ['.json'] },
  junit: { contentType: 'application/xml; charset=utf-8', suffixes: ['.xml'] },
  sarif: { contentType: 'application/sarif+json; charset=utf-8', suffixes: ['.sarif'] },
  html: { contentType: 'text/html; charset=utf-8', suffixes: ['.html', '.htm'] },
  markdown: { contentType: 'text/markdown; charset=utf-8', suffixes: ['.md', '.markdown'] },
  text: { contentType: 'text/plain; charset=utf-8', suffixes: ['.txt'] },
} as const satisfies Record<string, { contentType: string; suffixes: readonly string[] }>

/** Name of a form. */
export type ReportForm = keyof typeof REPORT_FORMS

/** Names of the forms. */
export const REPORT_FORM_NAMES = Object.keys(REPORT_FORMS) as ReportForm[]

/** The form that a file's suffix stands for; undefined when it stands for none. */
export function formOfFile(path: string): ReportForm | undefined {
  const lower = path.toLowerCase()
  return REPORT_FORM_NAMES.find((name) => REPORT_FORMS[name].suffixes.some((suffix) => lower.endsWith(suffix)))
}
