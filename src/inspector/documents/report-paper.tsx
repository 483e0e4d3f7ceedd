import type { MergedReport, Report } from '../../control/contract.ts'
import { LEVELS } from '../model/levels.ts'
import { nameOf, OtherChapters, Overview, ReportNumbers, Unmet, WrongChapters } from '../views/report-chapters.tsx'
import { Paper } from './paper.tsx'

const MEANING =
  'Kept: the situation arose, and the client did right. Broken: the exchanges show that it did wrong. Not tested: the situation never arose, or traffic alone cannot show it.'

/** One report, or several with an overview before them. */
export function ReportPaper({ report }: { report: Report | MergedReport }) {
  return 'reports' in report ? <Merged report={report} /> : <Single report={report} />
}

const BOOKS_LEVELS = { wrong: 'critical', lag: 'warning', right: 'ok', unusable: 'review' } as const

/** What the application's own books came to, if it was asked for them. */
function BooksLine({ report: { books } }: { report: Pick<Report, 'books'> }) {
  if (!books) return null
  const { tone, sign } = LEVELS[BOOKS_LEVELS[books.verdict]]
  return (
    <p class={tone}>
      {sign} {books.sentence}
    </p>
  )
}

function Single({ report }: { report: Report }) {
  return (
    <Paper
      subject={`${nameOf(report)}, seed ${report.seed}`}
      at={report.created_at}
      summary={report.summary}
      head={
        <>
          <ReportNumbers report={report} />
          <Unmet unmet={report.unmet} />
          <BooksLine report={report} />
        </>
      }
      foot={`Made by yield-sandbox ${report.version}. ${MEANING}`}
    >
      <WrongChapters report={report} />
      <OtherChapters report={report} />
    </Paper>
  )
}

function Merged({ report }: { report: MergedReport }) {
  const { reports } = report
  return (
    <Paper
      subject={`${reports.length} scenarios`}
      at={reports[0]?.created_at}
      summary={report.summary}
      head={<ReportNumbers report={report} />}
      foot={`Made by yield-sandbox ${reports[0]?.version}. ${MEANING}`}
    >
      <Overview reports={reports} linkOf={(index) => `#run-${index}`} />
      {reports.map((one, i) => (
        <section key={i} class="run stack" id={`run-${i}`}>
          <p class="mute">
            {nameOf(one)}, seed {one.seed}
          </p>
          <h2 class="say">{one.summary}</h2>
          <ReportNumbers report={one} />
          <Unmet unmet={one.unmet} />
          <BooksLine report={one} />
          <WrongChapters report={one} />
          <OtherChapters report={one} />
        </section>
      ))}
    </Paper>
  )
}
