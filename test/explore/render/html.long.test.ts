import { renderExploration } from '../../../src/explore/render/render-exploration.ts'
import { fitAPhone } from '../../helpers/page-looks.ts'
import { HOSTILE } from '../../verdict/render/sample-report.ts'
import { sampleExploration } from './sample-exploration.ts'

fitAPhone(
  HOSTILE.map((text, i) => [`hostile text ${i}`, () => renderExploration('html', sampleExploration(text))] as const),
)
