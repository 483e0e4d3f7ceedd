import type { Report } from '../verdict/report.ts'
import { failuresOf } from '../verdict/verdict-of.ts'
import type { BaselineEntry } from './baseline-schema.ts'
import { lastMoment } from './load-baseline.ts'

/** Reports as a baseline leaves them, and what is wrong with the baseline itself. */
export interface Accepted {
  reports: Report[]
  /** A sentence each; any fails the run: a baseline that nobody tends hides what it was not made for. */
  complaints: string[]
}

/**
 * Lets findings fail that a baseline lists, until its entry expires. An entry is stale when its finding is proved in one of the runs
 * and fails in none. `now` is real time in milliseconds since the Unix epoch.
 */
export function applyBaseline(reports: readonly Report[], baseline: readonly BaselineEntry[], now: number): Accepted {
  const inForce = new Map<string, string>()
  const complaints: string[] = []
  for (const { id, reason = 'no reason given', expires } of baseline) {
    const outcomes = reports.flatMap(({ findings }) =>
      findings.filter((one) => one.id === id).map((one) => one.outcome),
    )
    const failed = outcomes.includes('failed')
    if (expires !== undefined && lastMoment(expires) < now) {
      complaints.push(`The baseline accepted ${id} until ${expires}; fix it, or give the entry a later day.`)
    } else if (!failed && outcomes.includes('passed')) {
      complaints.push(`The baseline is stale: ${id} does not fail any more; remove its entry.`)
    } else inForce.set(id, reason)
  }
  return { reports: reports.map((report) => withAccepted(report, inForce)), complaints }
}

function withAccepted(report: Report, reasons: ReadonlyMap<string, string>): Report {
  const findings = report.findings.map((finding) => {
    const accepted = finding.outcome === 'failed' ? reasons.get(finding.id) : undefined
    return accepted === undefined ? finding : { ...finding, accepted }
  })
  if (findings.every(({ accepted }) => accepted === undefined)) return report
  return { ...report, findings, ...verdictBut({ ...report, findings }) }
}

/** The verdict when accepted failures do not count. */
function verdictBut({ findings, operations, unmet }: Report): Pick<Report, 'verdict' | 'summary'> {
  const count = findings.filter(({ accepted }) => accepted !== undefined).length
  const but = `${count} ${count === 1 ? 'failure' : 'failures'} accepted by the baseline`
  // Money that moved by the very requests of an accepted failure is what was accepted.
  const accepted = new Set(findings.flatMap((one) => (one.accepted === undefined ? [] : one.request_ids)))
  const others = operations.filter(({ request_ids }) => !request_ids.some((id) => accepted.has(id)))
  const [left] = failuresOf({ findings, operations: others })
  if (left !== undefined) return { verdict: 'failed', summary: `Failed: ${left.replace(/\.$/, '')}; ${but}.` }
  const [first] = unmet
  if (first !== undefined)
    return { verdict: 'inconclusive', summary: `Inconclusive: ${first.replace(/\.$/, '')}; ${but}.` }
  return { verdict: 'passed', summary: `Passed: no rule is broken; ${but}.` }
}
