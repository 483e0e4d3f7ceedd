import type { ExchangeLine, OperationOutcome, Report, ReportedFinding } from '../../control/contract.ts'
import { counted, idInWords, LEVELS, rankOf } from '../model/levels.ts'
import { Chapter } from '../parts/chapter.tsx'
import { Coverage } from '../parts/coverage.tsx'
import { Exchanges } from '../parts/exchanges.tsx'
import { Card, CauseCard, FindingCard, FindingList, Fold } from '../parts/finding-card.tsx'
import { countsOf, Numbers, toneOfVerdict } from '../parts/numbers.tsx'
import { RULE_OUTCOMES, RulesTable } from '../parts/rules-table.tsx'
import { Table } from '../parts/table.tsx'

/** Verdict and numbers of a report, or of a certificate. */
export function ReportNumbers({
  report,
}: {
  report: Pick<Report, 'verdict' | 'proved' | 'contradicted' | 'unproved'>
}) {
  return <Numbers verdict={report.verdict} counts={countsOf(report)} />
}

/** The reasons why a verdict is no better, if there are several; a single one is its sentence. */
export function Unmet({ unmet }: Pick<Report, 'unmet'>) {
  return unmet.length < 2 ? null : (
    <ul class="plain">
      {unmet.map((reason) => (
        <li key={reason}>{reason}</li>
      ))}
    </ul>
  )
}

/** What is wrong or open in a report, in cards, the worst first. `money`: with the outcomes of all operations. `selected`: id of a finding, or empty. */
export function WrongChapters({
  report,
  money = true,
  selected = '',
}: {
  report: Report
  money?: boolean
  selected?: string
}) {
  const { configuration, exchanges } = report
  return (
    <>
      {money && <Operations report={report} />}
      <Chapter title="Set-up" note="first: it explains what was refused" shown={configuration.length > 0}>
        {configuration.map((cause) => (
          <CauseCard key={cause.id} cause={cause} />
        ))}
      </Chapter>
      {RULE_OUTCOMES.slice(0, 3).map(([title, outcome]) => {
        const findings = findingsOf(report, outcome)
        return (
          <Chapter key={title} title={title} note={findings.length}>
            {findings.map((finding) => (
              <FindingCard
                key={finding.id}
                finding={finding}
                exchanges={exchanges}
                isChosen={finding.id === selected}
              />
            ))}
          </Chapter>
        )
      })}
    </>
  )
}

/** Rules that were kept and that were not tested, and what the client met. `selected`: id of a finding, or empty. */
export function OtherChapters({ report, selected = '' }: { report: Report; selected?: string }) {
  return (
    <>
      {RULE_OUTCOMES.slice(3).map(([title, outcome]) => {
        const findings = findingsOf(report, outcome)
        return (
          findings.length > 0 && (
            <Fold key={title} title={title} count={findings.length}>
              <FindingList findings={findings} selected={selected} />
            </Fold>
          )
        )
      })}
      <Coverage coverage={report.coverage} />
    </>
  )
}

/** Findings of an outcome. */
export function findingsOf({ findings }: Report, outcome: ReportedFinding['outcome']): ReportedFinding[] {
  return findings.filter((finding) => finding.outcome === outcome)
}

/** Most operations that are shown with their requests. */
const MOST = 20

/** What became of the operations: the grave ones in full, the mild ones in a line, the good ones counted. */
function Operations({ report: { operations, exchanges } }: { report: Report }) {
  const sorted = [...operations].sort((a, b) => rankOf(a.level) - rankOf(b.level))
  const grave = sorted.filter(({ level }) => '✗!?'.includes(LEVELS[level].sign))
  const mild = sorted.filter(({ level }) => level === 'warning' || level === 'note')
  const rest = sorted.length - grave.length - mild.length
  return (
    <Chapter title="What became of the money" shown={sorted.length > 0}>
      {grave.slice(0, MOST).map((operation) => (
        <Grave key={operation.sentence} operation={operation} exchanges={exchanges} />
      ))}
      {grave.length > MOST && <p class="mute">and {grave.length - MOST} more of these</p>}
      {mild.length > 0 && (
        <ul class="list">
          {mild.map(({ sentence, outcome, level }, i) => (
            <li key={i}>
              <b class={LEVELS[level].tone}>{LEVELS[level].sign}</b>
              <div>
                {sentence} <small class="mute">{idInWords(outcome)}</small>
              </div>
            </li>
          ))}
        </ul>
      )}
      {rest > 0 && (
        <p class="ok">
          ✓ {counted(rest, 'operation')}: {outcomesOf(sorted.slice(-rest))}.
        </p>
      )}
    </Chapter>
  )
}

function Grave({ operation, exchanges }: { operation: OperationOutcome; exchanges: readonly ExchangeLine[] }) {
  const { sentence, outcome, level, request_ids } = operation
  const lines = exchanges.filter(({ request_id }) => request_ids.includes(request_id))
  return (
    <Card title={sentence} mark={`${idInWords(outcome)}, ${level}`} tone={LEVELS[level].tone}>
      {lines.length > 0 && (
        <details>
          <summary>the requests that show it</summary>
          <Exchanges lines={lines} />
        </details>
      )}
    </Card>
  )
}

/** "14 told, 1 found" */
function outcomesOf(operations: readonly OperationOutcome[]): string {
  const names = [...new Set(operations.map(({ outcome }) => outcome))]
  const count = (name: string) => operations.filter(({ outcome }) => outcome === name).length
  return names.map((name) => `${count(name)} ${idInWords(name)}`).join(', ')
}

/** Several reports at a glance: a line for each, and every rule that one of them tested. `linkOf`: address of a report. */
export function Overview({ reports, linkOf }: { reports: readonly Report[]; linkOf(index: number): string }) {
  const columns = reports.map((report, i) => ({ name: nameOf(report), href: linkOf(i) }))
  const ids = [...new Set(reports.flatMap(({ findings }) => findings.map(({ id }) => id)))]
  const rows = ids.map((id) => ({
    id,
    outcomes: reports.map(({ findings }) => {
      const finding = findings.find((one) => one.id === id)
      return RULE_OUTCOMES.find(([, outcome]) => outcome === finding?.outcome)
    }),
  }))
  return (
    <>
      <Chapter title="Scenarios" note={reports.length}>
        <Table
          label="Scenarios"
          head={['scenario', 'verdict', '>kept', '>broken', '>not tested']}
          rows={reports.map((report, i) => ({
            key: i,
            cells: [
              <a href={linkOf(i)}>{nameOf(report)}</a>,
              <b class={toneOfVerdict(report.verdict)}>{report.verdict}</b>,
              report.proved,
              report.contradicted,
              report.unproved,
            ],
          }))}
        />
      </Chapter>
      <RulesTable
        columns={columns}
        rows={rows.filter(({ outcomes }) => outcomes.some((one) => one && one[1] !== 'not_exercised'))}
      />
    </>
  )
}

/** The subject of a report. */
export function nameOf({ scenario }: Report): string {
  return scenario ?? 'no scenario'
}
