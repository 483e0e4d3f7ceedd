import { type Static, Type } from '@sinclair/typebox'
import { parseMoment } from '../support/quantities.ts'
import { FINDING_IDS } from '../verdict/finding-ids.ts'
import type { Report } from '../verdict/report.ts'
import { reportHeadline } from '../verdict/report-headline.ts'
import { failuresOf } from '../verdict/verdict-of.ts'
import { FileError } from '../yaml-file/file-error.ts'
import { IssueList } from '../yaml-file/issue-list.ts'
import { object, oneOf, text } from '../yaml-file/schema-words.ts'
import { readYaml } from '../yaml-file/yaml-source.ts'

const entry = object(
  'an entry (id, reason, expires)',
  'A finding that may fail for the time being.',
  {
    id: oneOf(FINDING_IDS, 'Id of the finding.'),
    reason: Type.Optional(
      Type.String({
        title: 'a reason of 1 to 500 characters',
        minLength: 1,
        maxLength: 500,
        examples: ['our worker is paused until the library is mended, see ticket 123'],
        description: 'Why it is accepted, shown in the report. A finding of critical impact needs one.',
      }),
    ),
    expires: Type.Optional(
      text(
        'a day such as "2027-01-31"',
        '^\\d{4}-\\d{2}-\\d{2}$',
        '2027-01-31',
        'The last day (UTC) on which it is accepted. Default: for good.',
      ),
    ),
  },
  { id: 'polling-pace', reason: 'the poller is replaced in March', expires: '2027-03-31' },
)

/** Shape of a baseline file. */
export const BaselineSchema = Type.Array(entry, {
  title: 'a list of entries (id, reason, expires)',
  maxItems: 100,
  examples: [[{ id: 'polling-pace', reason: 'the poller is replaced in March' }]],
  description: 'Findings that may fail without failing the run.',
})

/** One entry of a baseline file. */
export type BaselineEntry = Static<typeof entry>

const FILE_LIMIT = 1024 * 1024
const TERMS = { what: 'a baseline', docs: 'docs/exec.md', sample: 'the example in docs/exec.md' }

/** A baseline that cannot be used. Its message has one line per issue. */
export class BaselineError extends FileError {
  override readonly name = 'BaselineError'
}

/** Reads and checks a baseline file (YAML or JSON). Throws {@link BaselineError} naming everything that is wrong. */
export async function loadBaseline(file: string): Promise<BaselineEntry[]> {
  // Loaded on demand: the findings are long, and most runs have no baseline.
  const { FINDINGS } = await import('../verdict/findings/index.ts')
  const critical = new Set<string>(FINDINGS.filter(({ impact }) => impact === 'critical').map(({ id }) => id))
  try {
    const source = await readYaml(file, TERMS, FILE_LIMIT)
    const issues = new IssueList(source)
    issues.addMismatches(BaselineSchema)
    issues.throwIfAny()
    const entries = source.data as BaselineEntry[]
    issues.addDuplicates(
      entries.map(({ id }) => id),
      (i) => [i, 'id'],
    )
    for (const [i, { id, reason, expires }] of entries.entries()) {
      if (critical.has(id) && !reason?.trim()) {
        issues.add([i], `"${id}" is of critical impact and has no reason`, 'add reason: and say why it is accepted')
      }
      if (expires !== undefined && Number.isNaN(lastMoment(expires))) {
        issues.add([i, 'expires'], `"${expires}" is no day of the calendar`, 'write it like "2027-01-31"')
      }
    }
    issues.throwIfAny()
    return entries
  } catch (error) {
    throw error instanceof FileError ? new BaselineError(error.issues) : error
  }
}

/** The last millisecond of a day in UTC, since the Unix epoch; NaN for a day that does not exist. */
function lastMoment(day: string): number {
  return parseMoment(`${day}T00:00:00Z`) + 24 * 60 * 60 * 1000 - 1
}

/** Reports after a baseline was applied, and complaints about the baseline itself. */
export interface Accepted {
  reports: Report[]
  /** A sentence each; any fails the run: an outdated baseline would hide failures that it was not made for. */
  complaints: string[]
}

/**
 * Accepts failures that a baseline lists, until the entry expires. An entry is stale when its finding is proved in one of the runs
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
  const headline = reportHeadline(report.operations, findings)
  return { ...report, findings, headline, ...verdictBut({ ...report, findings }) }
}

/** The verdict when accepted failures do not count. */
function verdictBut({ findings, operations, unmet }: Report): Pick<Report, 'verdict' | 'summary'> {
  const count = findings.filter(({ accepted }) => accepted !== undefined).length
  const but = `${count} ${count === 1 ? 'failure' : 'failures'} accepted by the baseline`
  // Money that moved by the requests of an accepted failure is accepted with it.
  const accepted = new Set(findings.flatMap((one) => (one.accepted === undefined ? [] : one.request_ids)))
  const others = operations.filter(({ request_ids }) => !request_ids.some((id) => accepted.has(id)))
  const [left] = failuresOf({ findings, operations: others })
  if (left !== undefined) return { verdict: 'failed', summary: `Failed: ${left.replace(/\.$/, '')}; ${but}.` }
  const [first] = unmet
  if (first !== undefined)
    return { verdict: 'inconclusive', summary: `Inconclusive: ${first.replace(/\.$/, '')}; ${but}.` }
  return { verdict: 'passed', summary: `Passed: no rule is broken; ${but}.` }
}
