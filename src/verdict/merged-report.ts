import type { Report, Verdict } from './report.ts'

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
  return { verdict, summary: summaryOf(reports), proved, contradicted, unproved, reports }
}

/** "2 of 3 scenarios passed, 1 failed: dropped-deposit." */
function summaryOf(reports: readonly Report[]): string {
  const of = (verdict: Verdict) => reports.filter((report) => report.verdict === verdict)
  const others = (['failed', 'inconclusive'] as const).flatMap((verdict) => {
    const found = of(verdict)
    return found.length > 0
      ? [`${found.length} ${verdict}: ${found.map(({ scenario = '-' }) => scenario).join(', ')}`]
      : []
  })
  return `${[`${of('passed').length} of ${reports.length} scenarios passed`, ...others].join('; ')}.`
}
