import type { BooksSaid } from '../books/books.ts'
import type { MovedWrongly, OperationOutcome } from '../oracle/outcome.ts'
import type { Impact, Outcome } from './finding.ts'
import type { FindingId } from './finding-ids.ts'

/** A first-hour mistake in the client's set-up, which explains refusals better than findings could. */
export interface ConfigurationCause {
  /** A noun phrase, such as `user-token-issuer`. */
  id: string
  /** One sentence: the mistake. */
  title: string
  expected: string
  came: string
  fix: string
  /** True if no request of that client ever passed the check: then little else could be judged. */
  blocking: boolean
  /** Number of requests that were refused for it. */
  count: number
  /** Ids of the first of them. */
  request_ids: string[]
}

/** A finding in a report. */
export interface ReportedFinding {
  id: FindingId
  /** The right behaviour or, after a failure, the wrong one and its cost. */
  title: string
  outcome: Outcome
  impact: Impact
  /** The rule of the specification. */
  rule: string
  explanation: string
  /** Damage of a failure, and who suffers it. */
  consequence: string
  expected?: string
  came?: string
  fix?: string
  /** A command that brings the situation about; after a failure, one that shows it again. */
  exercise_with?: string
  /** True if the scenario or `--require` asks for it. */
  required: boolean
  /** For a failure that a baseline accepts: the reason. The verdict does not count it. */
  accepted?: string
  request_ids: string[]
  /** Amounts that its texts give in minor units, each once; only where there are any. */
  amounts?: StatedAmount[]
  /** Only after a failure by which money is at the wrong place: that of the gravest operation that it concerns. */
  money_moved_wrongly?: MovedWrongly
  /** Of a finding that needs review: the broken rule that names the same requests, and so the same event. */
  explained_by?: FindingId
}

/** An amount as a text states it: `250000000 minor units`. */
export interface StatedAmount {
  amount_minor: string
  /** Null where no portfolio of the ledger shows it. */
  token_symbol: string | null
  token_decimals: number | null
}

/** Coverage of one operation, error code or kind of fault. */
export interface Covered {
  id: string
  exercised: boolean
  count: number
}

/** One exchange as a line of a sequence diagram. */
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
  /** Milliseconds of real time: begin since that of the report's first exchange, and duration. */
  at_ms: number
  took_ms: number
  tx_hash: string | null
  /** The request whose answer showed the total that this one withdraws; null for any other exchange. */
  shown_by: string | null
}

/** The conclusion of a report. */
export type Verdict = 'passed' | 'failed' | 'inconclusive'

/** `GET /_sandbox/report` */
export interface Report {
  verdict: Verdict
  /** One sentence. */
  summary: string
  /** One sentence on the money, for the top of a page. */
  headline: string
  /** Rules kept, broken, and not tested or open. */
  proved: number
  contradicted: number
  unproved: number
  /** Name of the scenario started last. */
  scenario?: string
  /** Seed of every random choice. */
  seed: number
  /** ISO 8601 UTC, wall-clock time. */
  created_at: string
  /** Version of the sandbox. */
  version: string
  /** Unmet conditions of the verdict, a sentence each: the reasons why it is no better. */
  unmet: string[]
  configuration: ConfigurationCause[]
  findings: ReportedFinding[]
  coverage: { operations: Covered[]; errors: Covered[]; faults: Covered[] }
  /** The outcome of every operation that the client sent, the worst first. */
  operations: OperationOutcome[]
  /** What the application's own books came to; absent unless it was asked for them. */
  books?: BooksSaid
  /** Exchanges that configuration, operations and findings name, and the last withdrawals of everything by a total that was shown. */
  exchanges: ExchangeLine[]
}

/** Several reports in one, as `--report` writes them in JSON for several scenarios. */
export interface MergedReport
  extends Pick<Report, 'verdict' | 'summary' | 'headline' | 'proved' | 'contradicted' | 'unproved'> {
  /** In the order of the scenarios. */
  reports: readonly Report[]
}

const GRAVEST: readonly Verdict[] = ['failed', 'inconclusive', 'passed']

/** A single report itself; of several, the gravest verdict, the sums, and all reports. */
export function mergedReport(reports: readonly Report[]): Report | MergedReport {
  const [only, ...others] = reports
  if (only && others.length === 0) return only
  const sum = (count: 'proved' | 'contradicted' | 'unproved') => reports.reduce((all, report) => all + report[count], 0)
  const verdict = GRAVEST.find((one) => reports.some((report) => report.verdict === one)) ?? 'inconclusive'
  const [proved, contradicted, unproved] = [sum('proved'), sum('contradicted'), sum('unproved')]
  const headline = reports.find((report) => report.verdict === verdict)?.headline ?? mergedSummary(reports)
  return { verdict, summary: mergedSummary(reports), headline, proved, contradicted, unproved, reports }
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

/** The forms of a report: content types and suffixes, the usual suffix first. */
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

/** The form for a file's suffix; undefined for an unknown suffix. */
export function formOfFile(path: string): ReportForm | undefined {
  const lower = path.toLowerCase()
  return REPORT_FORM_NAMES.find((name) => REPORT_FORMS[name].suffixes.some((suffix) => lower.endsWith(suffix)))
}
