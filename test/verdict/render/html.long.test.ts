import { renderReports } from '../../../src/verdict/render/render-reports.ts'
import type { Report } from '../../../src/verdict/report.ts'
import { beLegible, fitAPhone } from '../../helpers/page-looks.ts'
import { HOSTILE, sampleReport } from './sample-report.ts'

const page =
  (...reports: Report[]) =>
  () =>
    renderReports('html', reports)

fitAPhone([
  ['one report', page(sampleReport())],
  ['several reports, whose table may scroll by itself', page(sampleReport(), sampleReport())],
  ...HOSTILE.map((text, i) => [`hostile text ${i}`, page(sampleReport(text))] as const),
])
beLegible(page(sampleReport()))
