import { renderReports } from '../../../src/verdict/render/render-reports.ts'
import { fitAPhone } from '../../helpers/page-looks.ts'
import { HOSTILE, sampleReport } from './sample-report.ts'

fitAPhone(HOSTILE.map((text, i) => [`hostile text ${i}`, () => renderReports('html', [sampleReport(text)])] as const))
