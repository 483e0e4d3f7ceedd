import { useEffect, useRef } from 'preact/hooks'
import type { MergedReport, Report } from '../../control/contract.ts'
import { hrefOf, place } from '../model/address.ts'
import { browserTime } from '../model/browser-time.ts'
import { movesIn, setKeys } from '../model/keys.ts'
import { versions } from '../model/live.ts'
import { openedFile } from '../model/opened-file.ts'
import { useRead } from '../model/use-read.ts'
import { FileChooser, FileGuard } from '../parts/file-chooser.tsx'
import { elementOf } from '../parts/finding-card.tsx'
import { CertificateChapters, CertificateHead } from './certificate-chapters.tsx'
import { OtherChapters, Overview, ReportNumbers, Unmet, WrongChapters } from './report-chapters.tsx'

/** The report of the namespace that is shown, or a file. */
export function VerdictView() {
  const file = openedFile.value
  if (file?.kind === 'report')
    return (
      <FileGuard>
        <Saved report={file.data} />
      </FileGuard>
    )
  if (file?.kind === 'certificate') {
    return (
      <FileGuard>
        <div class="stack pad">
          <h1 class="sr">Certificate</h1>
          <CertificateHead certificate={file.data} />
          <CertificateChapters certificate={file.data} />
        </div>
      </FileGuard>
    )
  }
  return <Live />
}

/** Milliseconds between two readings of the report at least: judging takes a while, and nobody reads faster. */
const READ_EVERY_MS = 3000

function Live() {
  const version = versions.operations.value
  const { value: report, error, again } = useRead<Report>('report?ended=false')
  const due = useRef(false)
  const seen = useRef(version)
  useEffect(() => {
    if (seen.current === version || due.current) return
    due.current = true
    browserTime.after(READ_EVERY_MS, () => {
      due.current = false
      seen.current = versions.operations.peek()
      again()
    })
  }, [version])
  if (!report) return <p class="pad mute">{error?.message ?? 'Reading the report …'}</p>
  return <Pages report={report} money={false} />
}

/** A report from a file; of several, one after the other is chosen in the table. */
function Saved({ report }: { report: Report | MergedReport }) {
  const { run } = place.value.settings
  if (!('reports' in report)) return <Pages report={report} />
  const chosen = report.reports[Number(run)]
  if (run !== undefined && chosen) return <Pages report={chosen} />
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
  setKeys(movesIn(() => shownIds(report), selected))
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

/** Ids of the findings in the order in which they are shown. */
function shownIds({ findings }: Report): string[] {
  const order = ['failed', 'needs_review', 'errored', 'passed', 'not_exercised'] as const
  return order.flatMap((wanted) => findings.flatMap(({ id, outcome }) => (outcome === wanted ? [id] : [])))
}
