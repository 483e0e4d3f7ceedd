import { renderExploration } from '../../../src/explore/render/render-exploration.ts'
import { beLegible, fitAPhone } from '../../helpers/page-looks.ts'
import { HOSTILE } from '../../verdict/render/sample-report.ts'
import { sampleExploration } from './sample-exploration.ts'

const page = (text?: string) => renderExploration('html', sampleExploration(text))

fitAPhone([
  ['an exploration', () => page()],
  ...HOSTILE.map((text, i) => [`hostile text ${i}`, () => page(text)] as const),
])
beLegible(() => page())
