import { useEffect } from 'preact/hooks'
import type { MergedReport, Report } from '../../control/contract.ts'
import { hrefOf, place } from '../model/address.ts'
import { movesIn, setKeys } from '../model/keys.ts'
import { openedFile } from '../model/opened-file.ts'
import { useRead } from '../model/use-read.ts'
import { FileChooser } from '../parts/file-chooser.tsx'
import { elementOf } from '../parts/finding-card.tsx'
import { RULE_OUTCOMES } from '../parts/rules-table.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { CertificateChapters, CertificateHead } from './certificate-chapters.tsx'
import { findingsOf, OtherChapters, Overview, ReportNumbers, Unmet, WrongChapters } from './report-chapters.tsx'

/** The report of the namespace that is shown, or a file. */
export function VerdictView() {
  const file = openedFile.value
  if (file?.kind === 'report') return <Saved report={file.data} />
  if (file?.kind === 'certificate') {
    return (
      <div class="stack pad">
        <h1 class="sr">Certificate</h1>
        <CertificateHead certificate={file.data} />
        <CertificateChapters certificate={file.data} />
      </div>
    )
  }
  return <Live />
}

function Live() {
  const { value: report, error } = useRead<Report>('report?ended=false', ['operations'])
  if (!report) return <Waiting what="the report" error={error} />
  return <Pages report={report} money={false} />
}

/** A report from a file; of several, one after the other is chosen in the table. */
function Saved({ report }: { report: Report | MergedReport }) {
  const { run } = place.value.settings
  if (!('reports' in report)) return <Pages report={report} />
  const chosen = report.reports[Number(run)]
  if (chosen) return <Pages report={chosen} />
  return (
    <div class="stack pad">
      <h1 class="sr">Reports</h1>
      <ReportNumbers report={report} />
      <Overview reports={report.reports} linkOf={(index) => hrefOf('verdict', '', { run: String(index) })} />
    </div>
  )
}

function Pages({ report, money = true }: { report: Report; money?: boolean }) {
  const { selected } = place.value
  setKeys(
    movesIn(() => RULE_OUTCOMES.flatMap(([, outcome]) => findingsOf(report, outcome).map(({ id }) => id)), selected),
  )
  useEffect(() => {
    const element = selected === '' ? null : document.getElementById(elementOf(selected))
    const fold = element?.closest('details')
    if (fold) fold.open = true
    element?.scrollIntoView({ block: 'nearest' })
  }, [selected, report])
  return (
    <div class="pages">
      <div class="stack pad">
        <h1 class="sr">Verdict</h1>
        <ReportNumbers report={report} />
        <Unmet unmet={report.unmet} />
        <WrongChapters report={report} money={money} selected={selected} />
        <FileChooser />
      </div>
      <div class="pad">
        <OtherChapters report={report} selected={selected} />
      </div>
    </div>
  )
}
