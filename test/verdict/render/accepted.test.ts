import { expect, test } from 'vitest'
import { applyBaseline } from '../../../src/exec/baseline.ts'
import { renderReports } from '../../../src/verdict/render/render-reports.ts'
import { sampleReport } from './sample-report.ts'

const REASON = 'Mended in <release> 12.'

/** The sample, of which a baseline accepts whatever fails. */
function accepted() {
  const report = { ...sampleReport(), operations: [] }
  const failing = report.findings
    .filter(({ outcome }) => outcome === 'failed')
    .map(({ id }) => ({ id, reason: REASON }))
  expect(failing).not.toEqual([])
  const { reports, complaints } = applyBaseline([report], failing, 0)
  expect(complaints).toEqual([])
  return { reports, count: failing.length }
}

test('what a baseline accepts is shown with its reason, and is no failure to who counts them', () => {
  const { reports, count } = accepted()
  const of = (text: string, pattern: RegExp) => text.match(pattern)?.length
  expect(of(renderReports('text', reports), /^ {2}accepted {2}Mended in <release> 12\.$/gm)).toBe(count)
  expect(of(renderReports('markdown', reports), /\*\*Accepted by the baseline:\*\* Mended in .*release.* 12/g)).toBe(
    count,
  )
  expect(of(renderReports('html', reports), /Accepted by the baseline.*?Mended in &lt;release> 12/gs)).toBe(count)
  const junit = renderReports('junit', reports)
  expect(of(junit, /<skipped message="Accepted by the baseline: Mended in &lt;release&gt; 12\."/g)).toBe(count)
  expect(junit).not.toContain('<failure')
  const sarif = JSON.parse(renderReports('sarif', reports))
  const suppressed = sarif.runs[0].results.filter(({ suppressions }: { suppressions?: unknown[] }) => suppressions)
  expect(suppressed).toHaveLength(count)
  expect(suppressed[0].suppressions).toEqual([{ kind: 'external', justification: REASON }])
})
